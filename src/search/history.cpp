#include "heed/search/history.h"

#include <algorithm>

namespace heed {

std::vector<std::int32_t> SearchHistory::words(std::int32_t end) const {
  std::vector<std::int32_t> words(static_cast<std::size_t>(entry(end).step));
  std::int32_t at = entry(end).parent;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    *word = entry(at).word;
    at = entry(at).parent;
  }
  return words;
}

std::vector<std::int32_t> SearchHistory::words_with(std::int32_t last) const {
  if (last == kStart) return {};
  std::vector<std::int32_t> all = words(last);
  all.push_back(word(last));
  return all;
}

Tensor SearchHistory::weights(std::int32_t end, Index length) const {
  if (!weights_.front()) return {};
  const Index rows = entry(end).step + 1;
  Tensor weights(Shape{rows, length});
  std::int32_t at = end;
  for (Index t = rows - 1; t >= 0; --t) {
    const Tensor& step = weights_[static_cast<std::size_t>(t)];
    std::copy_n(step.data() + entry(at).row * step.size(1), length, weights.data() + t * length);
    at = entry(at).parent;
  }
  return weights;
}

std::vector<double> SearchHistory::log_probabilities(std::int32_t end) const {
  std::vector<double> each(static_cast<std::size_t>(entry(end).step) + 1);
  std::int32_t at = end;
  for (auto word = each.rbegin(); word != each.rend(); ++word) {
    const std::int32_t parent = entry(at).parent;
    *word = entry(at).log_probability - (parent == kStart ? 0 : entry(parent).log_probability);
    at = parent;
  }
  return each;
}

std::vector<double> SearchHistory::generates(std::int32_t end) const {
  if (!generates_.front()) return {};
  std::vector<double> each(static_cast<std::size_t>(entry(end).step) + 1);
  std::int32_t at = end;
  for (auto word = each.rbegin(); word != each.rend(); ++word) {
    *word = static_cast<double>(generates_[static_cast<std::size_t>(entry(at).step)].data()[entry(at).row]);
    at = entry(at).parent;
  }
  return each;
}

std::span<const Real> SearchHistory::row(std::int32_t at, Index length) const {
  const Tensor& step = weights_[static_cast<std::size_t>(entry(at).step)];
  if (!step) return {};
  return {step.data() + entry(at).row * step.size(1), static_cast<std::size_t>(length)};
}

}  // namespace heed
