#pragma once

#include "heed/kernels/norm.h"

namespace heed::kernels::ref {

void layer_norm(LayerNorm size, const Real* x, const Real* residual, const Real* gain, const Real* bias, Real* sum,
                Real* moments, Real* y);
void layer_norm_backward(LayerNorm size, const Real* dy, const Real* z, const Real* moments, const Real* gain, Real* dz,
                         Real* partials);

}  // namespace heed::kernels::ref
