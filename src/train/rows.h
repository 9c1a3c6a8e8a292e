#pragma once

#include "heed/autograd/gradient.h"

namespace heed {

// A sparse gradient's rows, each id once and in rising order, checked against a table of `rows` rows of `width`
// numbers. Rows that are so already are shared, not copied. `who` leads the error.
RowGradient merged_rows(const Gradient& gradient, Index rows, Index width, const char* who);

}  // namespace heed
