#pragma once

#include "heed/autograd/var.h"

namespace heed {

// Over one axis, which disappears; negative axes count from the end.
Var sum(const Var& x, int axis);
Var mean(const Var& x, int axis);
// The gradient goes to the first of equal values.
Var largest(const Var& x, int axis);
// Over everything, to one number.
Var sum(const Var& x);
Var mean(const Var& x);

}  // namespace heed
