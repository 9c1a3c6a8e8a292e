#pragma once

#include "heed/autograd/var.h"
#include "heed/kernels/elementwise.h"

namespace heed {

struct Transposed {
  bool a = false, b = false;
};
// a · b over the last two axes, either side transposed first; leading axes broadcast.
Var matmul(const Var& a, const Var& b, Transposed transposed = {});

using Activation = kernels::Unary;
// f(x W + b): x [..., in], W [in, out] or, with flip.b, [out, in], b [out] or an empty Var. Bias and activation are one
// pass.
Var linear(const Var& x, const Var& weight, const Var& bias = {}, Activation activation = Activation::identity,
           Transposed flip = {});
// Weights that are multiplied in eight bits here, as they stand or with flip.b; null where they are not.
const Int8Weight* int8_factor(const Var& weight, Transposed flip = {});

}  // namespace heed
