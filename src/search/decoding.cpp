#include "heed/search/decoding.h"

#include "heed/autograd/ops/softmax.h"

namespace heed {

Tensor log_probabilities_of(const Tensor& logits) {
  const NoGradient off;
  return log_softmax(Var(logits)).value();
}

Tensor Decoding::Step::log_probabilities() const { return normalised ? words : log_probabilities_of(words); }

}  // namespace heed
