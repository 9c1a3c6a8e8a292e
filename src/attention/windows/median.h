#pragma once

#include <optional>

#include "heed/base/real.h"

namespace heed {

// The first of m positions where the running sum of the weights reaches half of their sum, which is 1 except after a
// normaliser that may lose some. None where nothing has a weight.
std::optional<Index> median_of(const Real* weights, Index m);

}  // namespace heed
