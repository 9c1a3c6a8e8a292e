#pragma once

#include <cstdint>

namespace heed {

// The number type of the whole library. The same sources build once with float, for work, and once with
// double (-DHEED_DOUBLE), for gradient checks; a program links one of the two.
#ifdef HEED_DOUBLE
using Real = double;
#else
using Real = float;
#endif

// Sizes, positions and strides. Signed, so that differences and reversed loops are ordinary arithmetic.
using Index = std::int64_t;

}  // namespace heed
