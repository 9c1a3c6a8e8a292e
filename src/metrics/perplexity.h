#pragma once

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/real.h"

namespace heed {

// exp(-log p / words): how many words a model hesitates between, on average. `log_probability` is the sum over
// `words` predicted words, ends included.
inline double perplexity(double log_probability, Index words) {
  require(words > 0, "[perplexity] there are no words");
  return std::exp(-log_probability / static_cast<double>(words));
}

}  // namespace heed
