#include "heed/kernels/ref/screen.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::kernels::ref {

bool mark_possible_largest(Index n, const Real* about, const Margins& margins, Real a, Real b, std::uint8_t* marks) {
  const auto margin = [&](Index j) { return std::fma(a, margins.errors[j], b * margins.norms[j]); };
  Real needed = -std::numeric_limits<Real>::infinity();
  for (Index j = 0; j < n; ++j) {
    const Real least = about[j] + margins.low[j] - margin(j);
    if (std::isnan(least)) return false;
    needed = std::max(needed, least);
  }
  if (!std::isfinite(needed)) return false;
  for (Index j = 0; j < n; ++j)
    if (about[j] + margins.high[j] + margin(j) >= needed) marks[j] = 1;
  return true;
}

}  // namespace heed::kernels::ref
