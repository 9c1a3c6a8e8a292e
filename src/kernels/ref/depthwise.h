#pragma once

#include "heed/kernels/depthwise.h"

namespace heed::kernels::ref {

void depthwise(const DepthwiseSizes& sizes, const Real* x, const Real* w, const Real* bias, Real* y);
void depthwise_input_gradient(const DepthwiseSizes& sizes, const Real* dy, const Real* w, Real* dx);
void depthwise_weight_gradient(const DepthwiseSizes& sizes, const Real* x, const Real* dy, Real* dw);

}  // namespace heed::kernels::ref
