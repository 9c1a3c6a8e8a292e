#pragma once

#include "heed/autograd/ops/matrix.h"
#include "heed/nn/parameters.h"

namespace heed {

struct LinearOptions {
  bool bias = true;
  Activation activation = Activation::identity;
  Initialiser initialise = init::glorot();
};

// y = f(x W + b); W [in, out].
class Linear {
 public:
  Linear() = default;
  Linear(const Scope& scope, Index in, Index out, const LinearOptions& options = {})
      : weight_(scope.parameter("weight", Shape{in, out}, options.initialise, Use::factor)),
        activation_(options.activation) {
    if (options.bias) bias_ = scope.parameter("bias", Shape{out}, init::zeros());
  }
  Var operator()(const Var& x) const { return linear(x, weight_, bias_, activation_); }
  const Var& weight() const { return weight_; }
  const Var& bias() const { return bias_; }

 private:
  Var weight_, bias_;
  Activation activation_ = Activation::identity;
};

}  // namespace heed
