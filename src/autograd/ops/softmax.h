#pragma once

#include "heed/autograd/var.h"

namespace heed {

// Over the last axis. `mask` (true = takes part) broadcasts to x's shape; an empty mask lets all take part. Positions
// that do not take part get 0, and so does a whole row with none: never NaN.
Var softmax(const Var& x, const Mask& mask = {});
// Positions that do not take part get the lowest finite number, a row with none gets zeros.
Var log_softmax(const Var& x, const Mask& mask = {});

}  // namespace heed
