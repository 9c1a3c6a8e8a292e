#include "heed/search/minimum_error.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr double kBeyond = 1;  // how far behind the last crossing a weight is put
constexpr double kWorthMoving = 1e-9;

double score_of(const RatedCandidate& candidate, std::span<const double> weights) {
  return std::inner_product(weights.begin(), weights.end(), candidate.features.begin(), candidate.fixed);
}

const RatedCandidate& chosen(const RatedList& list, std::span<const double> weights) {
  return *std::max_element(list.begin(), list.end(), [&](const RatedCandidate& a, const RatedCandidate& b) {
    return score_of(a, weights) < score_of(b, weights);
  });
}

// The score of a candidate as one weight moves: at + slope · w.
struct Line {
  double at, slope, quality;
};

// Where the best of a list changes, from the left: from `place` on the quality is another by `change`.
struct Change {
  double place, change;
};

// The upper envelope of the lines. Gives the quality at the far left, and adds the changes.
double add_changes(std::vector<Line> lines, std::vector<Change>& changes) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.slope != b.slope ? a.slope < b.slope : a.at > b.at; });
  std::vector<Line> best;
  std::vector<double> from;  // where each of the best begins
  for (const Line& line : lines) {
    if (!best.empty() && best.back().slope == line.slope) continue;  // never above the one that is there
    double begin = -std::numeric_limits<double>::infinity();
    while (!best.empty()) {
      begin = (best.back().at - line.at) / (line.slope - best.back().slope);
      if (begin > from.back()) break;
      best.pop_back(), from.pop_back();
      begin = -std::numeric_limits<double>::infinity();
    }
    best.push_back(line), from.push_back(begin);
  }
  for (std::size_t i = 1; i < best.size(); ++i) changes.push_back({from[i], best[i].quality - best[i - 1].quality});
  return best.front().quality;
}

struct BestPlace {
  double weight, quality;  // summed over the lists
};

// The middle of the stretch of weight k with the best quality.
BestPlace best_on_line(std::span<const RatedList> lists, std::span<const double> weights, std::size_t k) {
  std::vector<Change> changes;
  double quality = 0;
  for (const RatedList& list : lists) {
    std::vector<Line> lines;
    for (const RatedCandidate& candidate : list)
      lines.push_back({score_of(candidate, weights) - weights[k] * candidate.features[k], candidate.features[k],
                       candidate.quality});
    quality += add_changes(std::move(lines), changes);
  }
  if (changes.empty()) return {weights[k], quality};
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.place < b.place; });
  BestPlace best{changes.front().place - kBeyond, quality};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    quality += changes[i].change;
    const bool last = i + 1 == changes.size();
    if (!last && changes[i + 1].place == changes[i].place) continue;
    const double middle = last ? changes[i].place + kBeyond : (changes[i].place + changes[i + 1].place) / 2;
    if (quality > best.quality + kWorthMoving) best = {middle, quality};
  }
  return best;
}

}  // namespace

double chosen_quality(std::span<const RatedList> lists, std::span<const double> weights) {
  double sum = 0;
  for (const RatedList& list : lists) sum += chosen(list, weights).quality;
  return lists.empty() ? 0 : sum / static_cast<double>(lists.size());
}

std::vector<double> minimum_error_weights(std::span<const RatedList> lists, std::vector<double> weights) {
  for (const RatedList& list : lists) {
    require(!list.empty(), "[minimum_error] a list has no candidate");
    for (const RatedCandidate& candidate : list)
      require(candidate.features.size() == weights.size(), "[minimum_error] {} features for {} weights",
              candidate.features.size(), weights.size());
  }
  double quality = chosen_quality(lists, weights);
  for (;;) {
    std::size_t moved = weights.size();
    double place = 0, most = quality;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      std::vector<double> tried = weights;
      tried[k] = best_on_line(lists, weights, k).weight;
      if (const double found = chosen_quality(lists, tried); found > most + kWorthMoving)
        moved = k, place = tried[k], most = found;
    }
    if (moved == weights.size()) return weights;
    weights[moved] = place, quality = most;
  }
}

}  // namespace heed
