#pragma once

#include "heed/base/real.h"

namespace heed::kernels {

// Reductions of [outer, axis, inner] over the middle axis, to [outer, inner]. y must not be x. An axis of size 0
// sums to 0; largest needs at least one, and NaN is larger than any number. Sums are built in a fixed order whatever
// the thread count.
void sum(Index outer, Index axis, Index inner, const Real* x, Real* y);
void largest(Index outer, Index axis, Index inner, const Real* x, Real* y);
// dx[o, a, i] = dy[o, i] at the first position that holds the largest value y[o, i], 0 elsewhere.
void largest_backward(Index outer, Index axis, Index inner, const Real* dy, const Real* x, const Real* y, Real* dx);
// dx[o, a, i] = scale * dy[o, i].
void spread(Index outer, Index axis, Index inner, Real scale, const Real* dy, Real* dx);

}  // namespace heed::kernels
