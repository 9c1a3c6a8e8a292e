#include "heed/trace/unit_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed {
namespace {

constexpr double kStill = 0.1;       // of a row's largest weight: it is still being said
constexpr double kPause = 0.2;       // seconds between two tokens that are not neighbours any more
constexpr double kReach = 0.05;      // seconds that a token goes beyond its weights before and after a pause
constexpr double kWentBack = 0.5;    // seconds back from where it was, and
constexpr double kPassedOver = 1.5;  // seconds that nothing was written of, that are worth a warning
constexpr double kStay = 0.25;       // seconds of which
constexpr double kMostSaid = 12;     // units are twice as many as fast speech has letters

// In seconds.
double centre_of(const Real* weights, Index m, const FrameTimes& frames) {
  double sum = 0, moment = 0;
  for (Index j = 0; j < m; ++j) {
    sum += static_cast<double>(weights[j]);
    moment += static_cast<double>(weights[j]) * (frames.begin(j) + frames.step / 2);
  }
  return sum > 0 ? moment / sum : 0;
}

// The frames of [first, last) at which the row's weights are not much below their largest there; never empty.
std::pair<Index, Index> still_said(const Real* weights, Index first, Index last) {
  const Real least = static_cast<Real>(kStill) * *std::max_element(weights + first, weights + last);
  while (weights[first] < least) ++first;
  while (weights[last - 1] < least) --last;
  return {first, last};
}

// Neighbours meet half-way; at a pause, and at both ends of the sound, a token reaches a little into the silence.
void close_gaps(std::vector<TimedWord>& units, double seconds) {
  for (std::size_t i = 0; i <= units.size(); ++i) {
    const double before = i == 0 ? 0 : units[i - 1].end, after = i == units.size() ? seconds : units[i].begin;
    const bool neighbours = i > 0 && i < units.size() && after - before <= kPause;
    const double reach = neighbours ? (after - before) / 2 : std::min(kReach, after - before);
    if (i > 0) units[i - 1].end = before + reach;
    if (i < units.size()) units[i].begin = neighbours ? before + reach : after - reach;
  }
}

// By the units' times, and by where the middle of each one's weights is.
std::vector<std::string> doubts_of(const std::vector<TimedWord>& units, const std::vector<double>& centres,
                                   double seconds) {
  std::vector<std::string> doubts;
  double furthest = 0, written = 0;
  const auto passed_over = [&](double until) {
    if (until - written > kPassedOver)
      doubts.push_back(fmt::format("nothing was written of {:.1f} s to {:.1f} s", written, until));
  };
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (furthest - centres[i] > kWentBack)
      doubts.push_back(fmt::format("it looked back from {:.1f} s to {:.1f} s at '{}', and may have repeated something",
                                   furthest, centres[i], units[i].word));
    furthest = std::max(furthest, centres[i]);
    passed_over(units[i].begin);
    written = std::max(written, units[i].end);
  }
  passed_over(seconds);
  return doubts;
}

// Where more was written of a short stretch than can have been said in it, by how far the tokens' weights cover it. The
// end and white space are not said.
std::vector<std::string> loops_of(const TraceText& output, const Tensor& a, const FrameTimes& frames) {
  const Index m = a.size(1), window = std::min(m, std::max<Index>(1, std::llround(kStay / frames.step)));
  std::vector<double> coverage(static_cast<std::size_t>(m) + 1, 0);  // summed up from the first frame on
  for (std::size_t i = 0; i < std::min(output.tokens.size(), static_cast<std::size_t>(a.size(0))); ++i)
    for (Index j = 0; output.tokens[i].word >= 0 && j < m; ++j)
      coverage[static_cast<std::size_t>(j) + 1] += static_cast<double>(a.data()[static_cast<Index>(i) * m + j]);
  std::partial_sum(coverage.begin(), coverage.end(), coverage.begin());
  double most = 0;
  Index where = 0;
  for (Index j = 0; j + window <= m; ++j) {
    const double said = coverage[static_cast<std::size_t>(j + window)] - coverage[static_cast<std::size_t>(j)];
    if (said > most) most = said, where = j;
  }
  if (most <= kMostSaid) return {};
  return {fmt::format("it wrote {:.0f} units of {:.1f} s to {:.1f} s, and may have repeated something", most,
                      frames.begin(where), frames.begin(where + window))};
}

}  // namespace

std::vector<Index> monotone_path(const Tensor& weights) {
  const Tensor a = weights.contiguous();
  const Index n = a.size(0), m = a.size(1), rows = std::min(n, m);
  // best[i]: of the frames so far, the last of which belongs to row i. moved[j, i]: the frame before belonged to i - 1.
  std::vector<double> best(static_cast<std::size_t>(rows), -INFINITY);
  std::vector<bool> moved(static_cast<std::size_t>(rows * m), false);
  for (Index j = 0; j < m; ++j)
    for (Index i = std::min(rows - 1, j); i >= 0; --i) {
      const auto row = static_cast<std::size_t>(i);
      const double stay = j == 0 ? (i == 0 ? 0 : -INFINITY) : best[row];
      const double move = i > 0 && j > 0 ? best[row - 1] : -INFINITY;
      moved[static_cast<std::size_t>(j * rows + i)] = move > stay;
      best[row] = std::max(stay, move) + static_cast<double>(a.data()[i * m + j]);
    }
  std::vector<Index> ends(static_cast<std::size_t>(n), m);
  for (Index j = m - 1, i = rows - 1; j > 0 && i > 0; --j)
    if (moved[static_cast<std::size_t>(j * rows + i)]) ends[static_cast<std::size_t>(--i)] = j;
  return ends;
}

UnitTimes unit_times(const TraceText& output, const Tensor& weights, const FrameTimes& frames,
                     std::span<const double> log_probabilities) {
  const Tensor a = weights.contiguous();
  const Index m = a.size(1);
  UnitTimes times;
  std::vector<TimedWord>& units = times.transcript.units;
  const double seconds = times.transcript.seconds = frames.seconds(m);
  const auto begin_of = [&](Index frame) { return std::clamp(frames.begin(frame), 0.0, seconds); };
  const std::vector<Index> ends = m > 0 && a.size(0) > 0 ? monotone_path(a) : std::vector<Index>();
  std::vector<double> centres;
  struct Word {
    double log_probability = 0;
    std::size_t first = 0, count = 0;  // of the units
  };
  std::vector<Word> words(output.words.size());
  for (std::size_t i = 0; i < std::min(output.tokens.size(), ends.size()); ++i) {
    const TraceToken& token = output.tokens[i];
    if (token.word < 0 || token.begin == token.end) continue;
    const Index begin = i == 0 ? 0 : ends[i - 1];
    const Real* const row = a.data() + static_cast<Index>(i) * m;
    const auto [first, last] = begin < ends[i] ? still_said(row, begin, ends[i]) : std::pair{m, m};
    const double log_probability = i < log_probabilities.size() ? log_probabilities[i] : 0;
    Word& word = words[static_cast<std::size_t>(token.word)];
    if (word.count++ == 0) word.first = units.size();
    word.log_probability += log_probability;
    centres.push_back(centre_of(row, m, frames));
    units.push_back({token.text, begin_of(first), begin_of(last), std::exp(log_probability)});
  }
  close_gaps(units, seconds);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    if (word.count == 0) continue;
    times.transcript.words.push_back({output.words[i].text, units[word.first].begin,
                                      units[word.first + word.count - 1].end,
                                      std::exp(word.log_probability / static_cast<double>(word.count))});
  }
  times.doubts = doubts_of(units, centres, seconds);
  if (!ends.empty())
    for (std::string& loop : loops_of(output, a, frames)) times.doubts.push_back(std::move(loop));
  return times;
}

}  // namespace heed
