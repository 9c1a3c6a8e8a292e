#pragma once

#include "heed/kernels/random.h"

namespace heed::kernels::ref {

// An element is dropped if its random word is below this.
std::uint32_t dropout_threshold(Real rate);

// Elements [begin, end) of kernels::dropout.
void dropout(Index begin, Index end, Real rate, RandomKey key, const Real* x, Real* y);

}  // namespace heed::kernels::ref
