#pragma once

#include <cstdint>

#include "heed/base/real.h"

namespace heed::kernels {

// Numbers that are known up to a margin:
//   |number_j - about_j| <= margin_j,  margin_j = a error_j + b norm_j
// with about_j + low_j and about_j + high_j in place of about_j where something is known to be added to it.
struct Margins {
  const Real* errors;
  const Real* norms;
  const Real* low;
  const Real* high;
};

// Sets marks[j] to 1 where number j may be the largest of n, as no other is certainly larger; leaves the other marks.
// False, and nothing is marked, if a bound of the largest is not finite. By the calling thread alone.
bool mark_possible_largest(Index n, const Real* about, const Margins& margins, Real a, Real b, std::uint8_t* marks);

}  // namespace heed::kernels
