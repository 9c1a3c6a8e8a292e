#include "heed/search/plan.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed {
namespace {

Ids ids_of(const std::vector<std::int32_t>& list) {
  return Ids(Shape{static_cast<Index>(list.size())}, std::span<const std::int32_t>(list));
}

}  // namespace

double length_penalty(Index length, double alpha) {
  return alpha == 0 ? 1.0 : std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

double coverage_penalty(const Tensor& weights, double beta) {
  require(weights.rank() == 2, "[coverage_penalty] weights {} are not [n, m]", weights.shape());
  constexpr double kLeastSum = 1e-6;
  const Tensor rows = weights.contiguous();
  const Index n = rows.size(0), m = rows.size(1);
  double sum = 0;
  for (Index j = 0; j < m; ++j) {
    double seen = 0;
    for (Index t = 0; t < n; ++t) seen += static_cast<double>(rows.data()[t * m + j]);
    sum += std::log(std::clamp(seen, kLeastSum, 1.0));
  }
  return beta * sum;
}

SearchPlan::SearchPlan(const char* who, const Decoding& decoding, const Ids& lengths, const SearchOptions& options)
    : who_(who), options_(options) {
  require(lengths.rank() == 1 && lengths.size() == decoding.rows(), "[{}] {} lengths for {} sources", who,
          lengths.shape(), decoding.rows());
  require(options.beam >= 1, "[{}] the beam must be at least 1 wide, not {}", who, options.beam);
  require(options.best >= 1, "[{}] at least 1 hypothesis must be asked for, not {}", who, options.best);
  require(options.length_penalty >= 0 && options.coverage_penalty >= 0,
          "[{}] penalties must not be negative: length {}, coverage {}", who, options.length_penalty,
          options.coverage_penalty);
  require(options.longest_factor >= 0 && options.longest_extra >= 0,
          "[{}] the longest length must not be negative: {} times the source's and {}", who, options.longest_factor,
          options.longest_extra);
  require(options.no_repeat >= 0, "[{}] n-grams of {} words cannot be kept from coming twice", who, options.no_repeat);
  require(options.prefixes.empty() || static_cast<Index>(options.prefixes.size()) == lengths.size(),
          "[{}] {} prefixes for {} sources", who, options.prefixes.size(), lengths.size());
  const Ids contiguous = lengths.contiguous();
  for (Index i = 0; i < lengths.size(); ++i) {
    const Index length = contiguous.data()[i];
    require(length >= 0, "[{}] source {} has length {}", who, i, length);
    lengths_.push_back(length);
    widest_ = std::max(widest_, length);
    auto most = static_cast<Index>(options.longest_factor * static_cast<double>(length)) + options.longest_extra;
    if (!options.prefixes.empty()) {
      const std::vector<std::int32_t>& prefix = options.prefixes[static_cast<std::size_t>(i)];
      for (const std::int32_t word : prefix)
        require(word >= 0 && word != options.end, "[{}] the prefix of source {} has the word {}", who, i, word);
      for (const std::int32_t word : prefix) largest_forced_ = std::max(largest_forced_, word);
      most = std::max(most, static_cast<Index>(prefix.size()));
    }
    longest_.push_back(most);
  }
}

std::int32_t SearchPlan::forced(Index source, Index t) const {
  if (!options_.prefixes.empty()) {
    const std::vector<std::int32_t>& prefix = options_.prefixes[static_cast<std::size_t>(source)];
    if (t < static_cast<Index>(prefix.size())) return prefix[static_cast<std::size_t>(t)];
  }
  return t == longest(source) ? options_.end : -1;
}

AllowsNext SearchPlan::allowed_after(Index source, std::span<const std::int32_t> words) const {
  return [this, words, asked = options_.allows ? options_.allows(source, words) : AllowsNext()](std::int32_t next) {
    if (options_.forbid_unknown && next == options_.unknown) return false;
    const auto n = static_cast<std::size_t>(options_.no_repeat);
    if (n > 0 && words.size() >= n) {
      const auto last = words.subspan(words.size() - n + 1);  // with `next` it is the n-gram in question
      for (std::size_t begin = 0; begin + n <= words.size(); ++begin)
        if (words[begin + n - 1] == next &&
            std::equal(last.begin(), last.end(), words.begin() + static_cast<Index>(begin)))
          return false;
    }
    return !asked || asked(next);
  };
}

NextWords SearchPlan::step(Decoding& decoding, const std::vector<std::int32_t>& previous,
                           SearchHistory& history) const {
  const auto rows = static_cast<Index>(previous.size());
  const Decoding::Step step = decoding.step(ids_of(previous));
  if (step.likeliest) {
    require(options_.likeliest_alone() && step.likeliest.shape() == Shape{rows},
            "[{}] the likeliest words {} do not fit {} rows, or more is asked for", who_, step.likeliest.shape(), rows);
  } else {
    const Tensor& next = step.words;
    require(next.rank() == 2 && next.size(0) == rows && next.size(1) > options_.end,
            "[{}] log-probabilities {} do not fit {} rows and the end symbol {}", who_, next.shape(), rows,
            options_.end);
    require(largest_forced_ < next.size(1), "[{}] a prefix has the word {} of a vocabulary of {}", who_,
            largest_forced_, next.size(1));
  }
  const Tensor& weights = step.weights;
  if (weights)
    require(weights.rank() == 2 && weights.size(0) == rows && weights.size(1) >= widest_,
            "[{}] weights {} do not fit {} rows and sources of up to {} words", who_, weights.shape(), rows, widest_);
  else
    require(options_.coverage_penalty == 0, "[{}] a coverage penalty needs a model with attention", who_);
  history.begin_step(weights ? weights.contiguous() : Tensor(), step.generates);
  return NextWords(step);
}

double SearchPlan::score(const SearchHistory& history, std::int32_t end, Index source, Index length,
                         double log_probability) const {
  const double score = log_probability / length_penalty(length, options_.length_penalty);
  if (options_.coverage_penalty == 0) return score;
  return score +
         coverage_penalty(history.weights(end, lengths_[static_cast<std::size_t>(source)]), options_.coverage_penalty);
}

Hypothesis SearchPlan::hypothesis(const SearchHistory& history, std::int32_t end, Index source,
                                  double log_probability) const {
  Hypothesis result;
  result.words = history.words(end);
  const auto length = static_cast<Index>(result.words.size()) + 1;
  result.log_probability = log_probability;
  result.score = score(history, end, source, length, log_probability);
  result.finished = length <= longest(source);
  result.weights = history.weights(end, lengths_[static_cast<std::size_t>(source)]);
  result.log_probabilities = history.log_probabilities(end);
  result.generates = history.generates(end);
  return result;
}

SearchStep::Alive SearchPlan::alive(const SearchHistory& history, std::int32_t last, Index from, Index source,
                                    Index length, double log_probability) const {
  return {.word = history.word(last),
          .from = from,
          .log_probability = log_probability,
          .score = score(history, last, source, length, log_probability),
          .ended = history.word(last) == options_.end,
          .weights = history.row(last, lengths_[static_cast<std::size_t>(source)])};
}

void select_if_changed(Decoding& decoding, const std::vector<std::int32_t>& rows) {
  bool same = static_cast<Index>(rows.size()) == decoding.rows();
  for (std::size_t i = 0; same && i < rows.size(); ++i) same = rows[i] == static_cast<std::int32_t>(i);
  if (!same) decoding.select(ids_of(rows));
}

}  // namespace heed
