#pragma once

#include "heed/kernels/pooling.h"

namespace heed::kernels::ref {

void max_pool(const PoolSizes& sizes, const Real* x, Real* y);
void max_pool_backward(const PoolSizes& sizes, const Real* dy, const Real* x, const Real* y, Real* dx);
void mean_pool(const PoolSizes& sizes, const Real* x, Real* y);
void mean_pool_backward(const PoolSizes& sizes, const Real* dy, Real* dx);

}  // namespace heed::kernels::ref
