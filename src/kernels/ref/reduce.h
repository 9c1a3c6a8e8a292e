#pragma once

#include "heed/kernels/reduce.h"

namespace heed::kernels::ref {

void sum(Index outer, Index axis, Index inner, const Real* x, Real* y);
void largest(Index outer, Index axis, Index inner, const Real* x, Real* y);
void largest_backward(Index outer, Index axis, Index inner, const Real* dy, const Real* x, const Real* y, Real* dx);
void spread(Index outer, Index axis, Index inner, Real scale, const Real* dy, Real* dx);

}  // namespace heed::kernels::ref
