#pragma once

#include "heed/kernels/window.h"

namespace heed::kernels {

// Pooling of channels-last images, packed: x [batch, height.input, width.input, channels] to
// y [batch, height.output, width.output, channels]. A sequence is an image of height 1. Every window must reach at
// least one real element (padding smaller than the kernel, a non-empty input). Nothing overlaps.
struct PoolSizes {
  Index batch = 0;
  Window height, width;
  Index channels = 0;
};

// The largest real element of each window; a NaN in it wins. Exact.
void max_pool(const PoolSizes& sizes, const Real* x, Real* y);
// dy goes to the first element of the window that is equal to y. Overlapping windows add up.
void max_pool_backward(const PoolSizes& sizes, const Real* dy, const Real* x, const Real* y, Real* dx);

// The mean of the real elements of each window: padding does not count. Summed in Real, row by row.
void mean_pool(const PoolSizes& sizes, const Real* x, Real* y);
void mean_pool_backward(const PoolSizes& sizes, const Real* dy, Real* dx);

}  // namespace heed::kernels
