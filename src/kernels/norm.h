#pragma once

#include "heed/base/real.h"

namespace heed::kernels {

// Layer norm (Ba, Kiros, Hinton 2016) of rows × n, n at least 1: z = x + residual (residual may be null: z = x),
//   y = (z - mean) / √(variance + epsilon) ∘ gain + bias.
// sum receives z if residual is given (it may be x or residual); moments receives (mean, 1/√(variance + epsilon)) per
// row. y may be x or residual, but not sum. A row with NaN or infinity is NaN throughout.
struct LayerNorm {
  Index rows, n;
  Real epsilon;
};
void layer_norm(LayerNorm size, const Real* x, const Real* residual, const Real* gain, const Real* bias, Real* sum,
                Real* moments, Real* y);

// dz from dy, and partial sums of the gain's and bias's gradients: partials holds, for each block of
// kLayerNormBlock rows, n numbers for the gain, then n for the bias; their sum over blocks is the gradient. The
// blocks are fixed, so the result does not depend on the threads. dz may be dy.
constexpr Index kLayerNormBlock = 64;
void layer_norm_backward(LayerNorm size, const Real* dy, const Real* z, const Real* moments, const Real* gain, Real* dz,
                         Real* partials);

}  // namespace heed::kernels
