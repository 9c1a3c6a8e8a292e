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

}  // namespace heed
