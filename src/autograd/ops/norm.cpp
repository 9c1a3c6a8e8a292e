#include "heed/autograd/ops/norm.h"

#include "heed/autograd/tensor_math.h"
#include "heed/kernels/norm.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

void check(const char* op, const Var& x, const Var& gain, const Var& bias) {
  require(x.rank() >= 1 && x.size(-1) > 0, "[{}] needs a last axis, not shape {}", op, x.shape());
  require(gain.shape() == Shape{x.size(-1)} && bias.shape() == gain.shape(),
          "[{}] gain {} and bias {} do not fit input {}", op, gain.shape(), bias.shape(), x.shape());
}

struct NormBackward {
  Tensor dz, dgain, dbias;
};
NormBackward norm_backward(kernels::LayerNorm size, const Tensor& dy, const Tensor& z, const Tensor& moments,
                           const Tensor& gain) {
  const Index blocks = (size.rows + kernels::kLayerNormBlock - 1) / kernels::kLayerNormBlock;
  Tensor dz(z.shape()), partials(Shape{blocks, 2, size.n}), sums(Shape{2, size.n});
  kernels::layer_norm_backward(size, dy.data(), z.data(), moments.data(), gain.data(), dz.data(), partials.data());
  kernels::sum(1, blocks, 2 * size.n, partials.data(), sums.data());
  return {dz, sums.slice(0, 0, 1).reshape(Shape{size.n}), sums.slice(0, 1, 2).reshape(Shape{size.n})};
}

}  // namespace

Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon) {
  check("layer_norm", x, gain, bias);
  const kernels::LayerNorm size{x.size() / x.size(-1), x.size(-1), static_cast<Real>(epsilon)};
  const Tensor z = x.value().contiguous(), g = gain.value().contiguous(), b = bias.value().contiguous();
  Tensor y(x.shape()), moments(Shape{size.rows, 2});
  kernels::layer_norm(size, z.data(), nullptr, g.data(), b.data(), nullptr, moments.data(), y.data());
  return record("layer_norm", y, {x, gain, bias}, [size, z, g, moments](const Tensor& dy) {
    NormBackward d = norm_backward(size, dy, z, moments, g);
    return grads(d.dz, d.dgain, d.dbias);
  });
}

Var residual_layer_norm(const Var& x, const Var& residual, const Var& gain, const Var& bias, double epsilon) {
  check("residual_layer_norm", x, gain, bias);
  require(x.shape() == residual.shape(), "[residual_layer_norm] input {} and residual {} differ", x.shape(),
          residual.shape());
  const kernels::LayerNorm size{x.size() / x.size(-1), x.size(-1), static_cast<Real>(epsilon)};
  const Tensor a = x.value().contiguous(), r = residual.value().contiguous();
  const Tensor g = gain.value().contiguous(), b = bias.value().contiguous();
  Tensor z(x.shape()), y(x.shape()), moments(Shape{size.rows, 2});
  kernels::layer_norm(size, a.data(), r.data(), g.data(), b.data(), z.data(), moments.data(), y.data());
  return record("residual_layer_norm", y, {x, residual, gain, bias}, [size, z, g, moments](const Tensor& dy) {
    NormBackward d = norm_backward(size, dy, z, moments, g);
    return grads(d.dz, d.dz, d.dgain, d.dbias);
  });
}

// dg = Σ dw ∘ v / ‖v‖;  dv = g/‖v‖ dw - g dg/‖v‖² v
Var weight_norm(const Var& v, const Var& g) {
  require(v.rank() >= 2 && g.shape() == Shape{v.size(-1)}, "[weight_norm] gains {} do not fit weights {}", g.shape(),
          v.shape());
  if (const Int8Weight* int8 = v.int8())
    return Var::leaf(std::make_shared<const Int8Weight>(
        int8->scaled(combine(kernels::Binary::divide, g.value(), int8->norms(), "weight_norm"))));
  const Index n = v.size(-1), rows = v.size() / std::max<Index>(n, 1);
  const Tensor weights = v.value().contiguous();
  const auto column_sums = [rows, n](const Tensor& x) {
    Tensor sums(Shape{n});
    kernels::sum(1, rows, n, x.data(), sums.data());
    return sums;
  };
  const Tensor norm = apply(kernels::Unary::sqrt, column_sums(apply(kernels::Unary::square, weights)));
  const Tensor ratio = combine(kernels::Binary::divide, g.value(), norm, "weight_norm");
  return record("weight_norm", multiply(weights, ratio), {v, g}, [weights, norm, ratio, column_sums](const Tensor& dw) {
    const Tensor dg = combine(kernels::Binary::divide, column_sums(multiply(dw, weights)), norm, "weight_norm");
    const Tensor pull = combine(kernels::Binary::divide, multiply(ratio, dg), norm, "weight_norm");
    return grads(combine(kernels::Binary::subtract, multiply(dw, ratio), multiply(weights, pull), "weight_norm"), dg);
  });
}

}  // namespace heed
