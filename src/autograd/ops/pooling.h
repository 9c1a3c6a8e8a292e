#pragma once

#include <optional>

#include "heed/autograd/ops/window.h"
#include "heed/autograd/var.h"

namespace heed {

// Pooling over time, [batch, time, channels] → [batch, time', channels], or over an image,
// [batch, height, width, channels] → [batch, height', width', channels]. Padding only moves the windows: it never wins
// a maximum, and a mean divides by the number of real elements in the window. The padding stands on either side and is
// smaller than the window. Of equal largest elements the first gets the gradient.

struct Pooling1d {
  Index window = 2;
  std::optional<Index> stride = {};  // the window unless given
  Index padding = 0;
};
Var max_pool1d(const Var& x, const Pooling1d& options = {});
Var mean_pool1d(const Var& x, const Pooling1d& options = {});

struct Pooling2d {
  HeightWidth window{2, 2};
  std::optional<HeightWidth> stride = {};
  HeightWidth padding{0, 0};
};
Var max_pool2d(const Var& x, const Pooling2d& options = {});
Var mean_pool2d(const Var& x, const Pooling2d& options = {});

}  // namespace heed
