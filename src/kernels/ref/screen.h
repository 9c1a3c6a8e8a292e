#pragma once

#include "heed/kernels/screen.h"

namespace heed::kernels::ref {

bool mark_possible_largest(Index n, const Real* about, const Margins& margins, Real a, Real b, std::uint8_t* marks);

}  // namespace heed::kernels::ref
