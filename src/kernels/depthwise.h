#pragma once

#include "heed/kernels/window.h"

namespace heed::kernels {

// Convolutions in which every channel has its own kernel and reads no other, of channels-last images, packed:
//   y[b, i, j, c] = bias[c] + Σ_kl x[b, position(i, k), position(j, l), c] · w[k, l, c]
// x [batch, height.input, width.input, channels], w [height.kernel, width.kernel, channels], bias [channels] or null,
// y [batch, height.output, width.output, channels]. Nothing overlaps. Float and double; sums run in Real, tap after
// tap.
struct DepthwiseSizes {
  Index batch = 0;
  Window height, width;
  Index channels = 0;
};
void depthwise(const DepthwiseSizes& sizes, const Real* x, const Real* w, const Real* bias, Real* y);
void depthwise_input_gradient(const DepthwiseSizes& sizes, const Real* dy, const Real* w, Real* dx);
void depthwise_weight_gradient(const DepthwiseSizes& sizes, const Real* x, const Real* dy, Real* dw);

}  // namespace heed::kernels
