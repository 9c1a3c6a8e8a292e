#pragma once

#include "heed/kernels/convolution.h"

namespace heed::kernels::ref {

void conv1d(const Conv1dSizes& sizes, const Real* x, const Real* w, const Real* bias, Real* y);
void conv1d_input_gradient(const Conv1dSizes& sizes, const Real* dy, const Real* w, Real* dx);
void conv1d_weight_gradient(const Conv1dSizes& sizes, const Real* x, const Real* dy, Real* dw);

void conv2d(const Conv2dSizes& sizes, const Real* x, const Real* w, const Real* bias, Real* y);
void conv2d_input_gradient(const Conv2dSizes& sizes, const Real* dy, const Real* w, Real* dx);
void conv2d_weight_gradient(const Conv2dSizes& sizes, const Real* x, const Real* dy, Real* dw);

}  // namespace heed::kernels::ref
