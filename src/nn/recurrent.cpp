#include "heed/nn/recurrent.h"

#include "heed/autograd/ops/shape.h"

namespace heed {

LstmLayer::LstmLayer(const Scope& scope, Index in, Index hidden, const LstmOptions& options) {
  weights_.input = scope.parameter("input", Shape{in, 4 * hidden}, options.input, Use::factor);
  weights_.recurrent = scope.parameter("recurrent", Shape{hidden, 4 * hidden}, options.recurrent, Use::factor);
  if (!options.bias) return;
  weights_.bias = scope.parameter("bias", Shape{4 * hidden}, [&](Tensor& bias, RandomKey) {
    std::fill(bias.values().begin(), bias.values().end(), Real{0});
    std::fill_n(bias.data() + hidden, hidden, static_cast<Real>(options.forget_bias));
  });
}

GruLayer::GruLayer(const Scope& scope, Index in, Index hidden, const GruOptions& options) : form_(options.form) {
  weights_.input = scope.parameter("input", Shape{in, 3 * hidden}, options.input, Use::factor);
  weights_.recurrent = scope.parameter("recurrent", Shape{hidden, 3 * hidden}, options.recurrent, Use::factor);
  if (!options.bias) return;
  weights_.bias = scope.parameter("bias", Shape{3 * hidden}, init::zeros());
  if (form_.reset == GruReset::after_product)
    weights_.candidate_bias = scope.parameter("candidate_bias", Shape{hidden}, init::zeros());
}

Var joined(const Var& a, const Var& b) { return concat({a, b}, -1); }

}  // namespace heed
