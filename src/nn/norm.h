#pragma once

#include "heed/autograd/ops/norm.h"
#include "heed/nn/parameters.h"

namespace heed {

// Layer norm over the last axis with a learned gain (from 1) and bias (from 0).
class LayerNorm {
 public:
  LayerNorm() = default;
  LayerNorm(const Scope& scope, Index width)
      : gain_(scope.parameter("gain", Shape{width}, init::constant(1))),
        bias_(scope.parameter("bias", Shape{width}, init::zeros())) {}
  Var operator()(const Var& x) const { return layer_norm(x, gain_, bias_); }
  // LN(x + residual).
  Var operator()(const Var& x, const Var& residual) const { return residual_layer_norm(x, residual, gain_, bias_); }

 private:
  Var gain_, bias_;
};

}  // namespace heed
