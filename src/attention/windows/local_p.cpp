#include <cmath>

#include "heed/attention/parts.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/nn/linear.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015, section 3.2.
//   p = (S - 1) σ(vᵀ tanh(W q)),  a(s) = softmax(score)(s) · exp(-(s - p)² / 2σ²),  σ = D/2, not renormalised
// Positions count from 0, so S - 1 is the last one of a sentence of length S (the authors' code; the paper writes S).
// The softmax sees [⌊p⌋ - D, ⌊p⌋ + D]; p stays real in the Gaussian, so that gradients reach W and v.
class LocalP final : public Window {
 public:
  LocalP(const Scope& scope, const AttentionOptions& options)
      : reach_(options.half_width),
        hidden_(scope / "hidden", options.query_width, options.query_width,
                {.bias = false, .activation = Activation::tanh}),
        centre_(scope / "centre", options.query_width, 1, {.bias = false, .activation = Activation::sigmoid}) {
    require(reach_ > 0, "[local-p] the half width must be positive: {}", reach_);
  }
  View operator()(const Query& query, const Memory& memory) const override {
    const Index batch = memory.batch(), heads = memory.heads(), n = query.count(), m = memory.size();
    Tensor last(Shape{batch, 1, 1, 1}), places(Shape{m});
    for (Index b = 0; b < batch; ++b)
      last.data()[b] = static_cast<Real>(std::max<Index>(memory.lengths.data()[b] - 1, 0));
    for (Index j = 0; j < m; ++j) places.data()[j] = static_cast<Real>(j);

    const Var p = centre_(hidden_(query.vectors)) * Var(last);  // [batch, heads, n, 1]
    Mask visible(Shape{batch, heads, n, m});
    for (Index row = 0; row < batch * heads * n; ++row) {
      const Index middle = static_cast<Index>(std::floor(p.value().contiguous().data()[row]));
      for (Index j = 0; j < m; ++j) visible.data()[row * m + j] = std::abs(j - middle) <= reach_;
    }
    const double sigma = static_cast<double>(reach_) / 2;
    const Var gain = exp(scale(square(Var(places) - p), static_cast<Real>(-1 / (2 * sigma * sigma))));
    return {visible, gain};
  }

 private:
  Index reach_;
  Linear hidden_, centre_;
};

const RegisterWindow local_p{
    {"local-p", "around a predicted position, with a Gaussian gain after the softmax",
     "p = (S-1) sigmoid(v.tanh(W q)), |j - floor(p)| <= D, gain exp(-(j-p)^2 / 2(D/2)^2)", "Luong, Pham, Manning 2015",
     [](const Scope& scope, const AttentionOptions& options) { return std::make_unique<LocalP>(scope, options); }}};

}  // namespace
}  // namespace heed
