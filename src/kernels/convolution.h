#pragma once

#include "heed/kernels/window.h"

namespace heed::kernels {

// Convolutions of channels-last data, packed row-major, nothing overlapping anything else. `scratch` holds as many
// numbers as the matching function asks for, aligned to 64 bytes, with contents of no meaning before or after.

// y[b, o, :] = bias + Σ_k x[b, position(o, k), :] · w[k]
// x [batch, time.input, in], w [time.kernel, in, out], bias [out] or null, y [batch, time.output, out].
// Float and double. Sums run over k and in of one output at a time; the relative error is that of gemm.
struct Conv1dSizes {
  Index batch = 0;
  Window time;
  Index in = 0, out = 0;
};
Index conv1d_scratch(const Conv1dSizes& sizes);
void conv1d(const Conv1dSizes& sizes, const Real* x, const Real* w, const Real* bias, Real* y, Real* scratch);
void conv1d_input_gradient(const Conv1dSizes& sizes, const Real* dy, const Real* w, Real* dx, Real* scratch);
void conv1d_weight_gradient(const Conv1dSizes& sizes, const Real* x, const Real* dy, Real* dw, Real* scratch);

// The same over two axes: x [batch, height.input, width.input, in], w [height.kernel, width.kernel, in, out],
// y [batch, height.output, width.output, out]. Float runs on oneDNN, double on the scalar twin. The scratch must be
// asked for by the thread that calls the kernel, with the same thread count.
struct Conv2dSizes {
  Index batch = 0;
  Window height, width;
  Index in = 0, out = 0;
  bool biased = false;  // the forward pass is given a bias, else null

  auto operator<=>(const Conv2dSizes&) const = default;
};
enum class ConvPass { forward, input_gradient, weight_gradient };
Index conv2d_scratch(const Conv2dSizes& sizes, ConvPass pass);
void conv2d(const Conv2dSizes& sizes, const Real* x, const Real* w, const Real* bias, Real* y, Real* scratch);
void conv2d_input_gradient(const Conv2dSizes& sizes, const Real* dy, const Real* w, Real* dx, Real* scratch);
void conv2d_weight_gradient(const Conv2dSizes& sizes, const Real* x, const Real* dy, Real* dw, Real* scratch);

}  // namespace heed::kernels
