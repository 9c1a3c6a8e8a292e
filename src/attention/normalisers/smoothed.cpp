#include "heed/attention/parts.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

// 1 where visible, 0 elsewhere, in the shape of the scores; empty if all is visible.
Tensor as_numbers(const Mask& visible, const Shape& shape) {
  if (!visible) return {};
  const Mask wide = visible.expand(shape).contiguous();
  Tensor numbers(shape);
  for (Index i = 0; i < wide.size(); ++i) numbers.data()[i] = wide.data()[i] ? Real{1} : Real{0};
  return numbers;
}

// Chorowski et al. 2015, smoothing.   α_j = σ(e_j) / Σ σ(e). Several positions may share the attention.
class Smoothed final : public Normaliser {
 public:
  Weighted operator()(const Var& scores, const Mask& visible, const Query&) const override {
    Var s = sigmoid(scores);
    const Tensor seen = as_numbers(visible, scores.shape());
    if (seen) s = s * Var(seen);
    const Var total = sum(s, -1);
    // A row with nothing visible has total 0 and stays 0: dividing by 1 there.
    Tensor spare(total.shape());
    for (Index i = 0; i < spare.size(); ++i) spare.data()[i] = total.value().data()[i] > 0 ? Real{0} : Real{1};
    return {s / reshape(total + Var(spare), scores.shape().with(-1, 1)), {}, {}};
  }
};

const RegisterNormaliser smoothed{{"smoothed", "sigmoids over their sum", "a = sigmoid(e) / sum sigmoid(e)",
                                   "Chorowski et al. 2015",
                                   [](const Scope&, const AttentionOptions&) { return std::make_unique<Smoothed>(); }}};

}  // namespace
}  // namespace heed
