#pragma once

#include "heed/base/real.h"

namespace heed::kernels {

// a < b in an order where NaN is above every number, so that a maximum keeps a NaN wherever it stands.
inline bool below(Real a, Real b) { return a < b || (b != b && a == a); }

}  // namespace heed::kernels
