#pragma once

#include "heed/kernels/window.h"

namespace heed {

// A pair of sizes or steps over an image.
struct HeightWidth {
  Index height, width;
};

// What errors call the op, its axis and what slides over it.
struct SlideNames {
  const char *op, *axis, *window;
};
// Checks a window given without its output size, and fills that in: ⌊(padded input - span) / stride⌋ + 1 with
// span = dilation (kernel - 1) + 1. `after` is the padding behind the last input.
kernels::Window slide(const SlideNames& names, kernels::Window window, Index after);

}  // namespace heed
