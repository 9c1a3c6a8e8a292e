#include "heed/explain/sentence_weights.h"

#include <cmath>
#include <numeric>

namespace heed {

std::vector<Index> whole_sentences(std::vector<Index> ends, Index words) {
  if (!ends.empty() && ends.back() < words) ends.push_back(words);
  return ends;
}

SentenceWeights sentence_weights(const Tensor& weights, const std::vector<Index>& ends) {
  const Index rows = weights.size(0), words = weights.size(1);
  const std::vector<Index> all = whole_sentences(ends, words);
  const auto count = static_cast<Index>(all.size());
  const Tensor plain = weights.contiguous();
  SentenceWeights result{Tensor(Shape{rows, count}), plain.copy()};
  for (Index row = 0; row < rows; ++row) {
    Index begin = 0;
    for (Index s = 0; s < count; ++s) {
      const Index end = all[static_cast<std::size_t>(s)];
      Real* const first = result.words.data() + row * words + begin;
      Real* const last = result.words.data() + row * words + end;
      const Real sum = std::accumulate(first, last, Real{0});
      result.sentences.data()[row * count + s] = sum;
      // √p_s · p_w = (weight / p_s) √p_s
      for (Real* word = first; sum > 0 && word < last; ++word) *word /= std::sqrt(sum);
      begin = end;
    }
  }
  return result;
}

}  // namespace heed
