#pragma once

#include "heed/autograd/ops/elementwise.h"
#include "heed/base/error.h"

namespace heed {

// What scores are divided by before they become weights: the lower, the steeper.
class Temperature {
 public:
  // An Error that names the normaliser unless the value is positive.
  Temperature(const char* normaliser, double value) : value_(value) {
    require(value > 0, "[{}] the temperature must be positive: {}", normaliser, value);
  }
  Var operator()(const Var& scores) const {
    return value_ == 1 ? scores : scale(scores, static_cast<Real>(1 / value_));
  }

 private:
  double value_;
};

}  // namespace heed
