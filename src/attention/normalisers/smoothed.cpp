#include "heed/attention/attention.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

// Chorowski et al. 2015, smoothing.   α_j = σ(e_j) / Σ σ(e). Several positions may share the attention.
class Smoothed final : public Normaliser {
 public:
  Weighted operator()(const Var& scores, const Mask& visible, const Query&) const override {
    const Var s = sigmoid(scores) * Var(as_numbers(visible, scores.shape()));
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
