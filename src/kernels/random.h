#pragma once

#include "heed/base/random.h"
#include "heed/base/real.h"

namespace heed::kernels {

// Inverted dropout (Srivastava et al. 2014): y[i] = x[i] / (1 - rate) where element i is kept, 0 where not. Which are
// kept is a function of (key, i) alone, so calling it again on dy is the backward. y may be x. 0 <= rate < 1.
//
// Element i uses word (i / 16) % 4 of the Philox block number 16 (i / 64) + i % 16: any SIMD width up to 16 words
// computes whole vectors of one word and still agrees with every other width.
void dropout(Index n, Real rate, RandomKey key, const Real* x, Real* y);

}  // namespace heed::kernels
