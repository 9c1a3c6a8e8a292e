#pragma once

#include "heed/autograd/var.h"

namespace heed {

// Over the last axis (Ba, Kiros, Hinton 2016): (x - mean) / √(variance + ε) ∘ gain + bias; gain and bias [n].
Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon = 1e-5);
// layer_norm(x + residual), one pass: the post-norm Transformer's LN(x + sublayer(x)).
Var residual_layer_norm(const Var& x, const Var& residual, const Var& gain, const Var& bias, double epsilon = 1e-5);

// w = g v / ‖v‖ (Salimans & Kingma 2016), the norm taken over all axes but the last, one per output unit:
// v [..., out], g [out].
Var weight_norm(const Var& v, const Var& g);

}  // namespace heed
