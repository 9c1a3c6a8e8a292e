#pragma once

#include <algorithm>
#include <compare>

#include "heed/base/real.h"

namespace heed::kernels {

// How a kernel or a pooling window slides over one axis: tap k of output o reads input o·stride - before + k·dilation.
// Inputs outside [0, input) are padding.
struct Window {
  Index input = 1;
  Index output = 1;
  Index kernel = 1;
  Index stride = 1;
  Index dilation = 1;
  Index before = 0;  // padding in front of the first input

  auto operator<=>(const Window&) const = default;

  Index position(Index o, Index tap) const { return o * stride - before + tap * dilation; }

  // The taps [begin, end) of output o that read real inputs; begin == end if there are none.
  struct Taps {
    Index begin, end;
  };
  Taps inside(Index o) const {
    const Index start = position(o, 0);
    const Index begin = start >= 0 ? 0 : std::min(kernel, (dilation - 1 - start) / dilation);
    const Index end = start >= input ? 0 : std::min(kernel, (input - 1 - start) / dilation + 1);
    return {begin, std::max(begin, end)};
  }
};

}  // namespace heed::kernels
