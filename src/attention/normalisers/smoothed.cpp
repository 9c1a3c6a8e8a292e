#include "heed/attention/parts.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/softmax.h"

namespace heed {
namespace {

// log σ(x) without overflow or underflow:  x - log(1 + e^x) for x <= 0,  -log(1 + e^{-x}) above.
Var log_sigmoid(const Var& x) {
  const Tensor numbers = x.value().contiguous();
  Tensor sign(x.shape()), kept(x.shape());
  for (Index i = 0; i < numbers.size(); ++i) {
    const bool positive = numbers.data()[i] > 0;
    sign.data()[i] = positive ? Real{-1} : Real{1};
    kept.data()[i] = positive ? Real{0} : Real{1};
  }
  return x * Var(kept) - log(exp(x * Var(sign)) + Var(Tensor::scalar(1)));
}

// Chorowski et al. 2015, smoothing.   α_j = σ(e_j) / Σ σ(e). Several positions may share the attention. As a softmax of
// log σ(e), so that a row of very low scores keeps its proportions.
class Smoothed final : public Normaliser {
 public:
  Weighted operator()(const Var& scores, const Mask& visible, const Query&) const override {
    return {softmax(log_sigmoid(scores), visible), {}, {}};
  }
};

const RegisterNormaliser smoothed{{"smoothed", "sigmoids over their sum", "a = sigmoid(e) / sum sigmoid(e)",
                                   "Chorowski et al. 2015",
                                   [](const Scope&, const AttentionOptions&) { return std::make_unique<Smoothed>(); }}};

}  // namespace
}  // namespace heed
