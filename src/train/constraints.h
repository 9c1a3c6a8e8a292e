#pragma once

#include <vector>

#include "heed/nn/parameters.h"

// What training does to weights besides steps against the gradient.

namespace heed {

// Srivastava et al. 2014, Hinton et al. 2012: a unit's incoming weights, a column of a matrix [in, out], are scaled
// down to the norm `most` where theirs is larger. Vectors, such as biases, stay as they are.
void limit_column_norms(Parameters& parameters, double most);

// Graves 2011, Practical variational inference, with a fixed deviation: while this lives, N(0, deviation²) is added to
// every weight. Afterwards they are bit for bit what they were.
class WeightNoise {
 public:
  // The noise follows from (key, parameter's name). A deviation of 0 does nothing.
  WeightNoise(Parameters& parameters, double deviation, RandomKey key);
  ~WeightNoise();
  WeightNoise(const WeightNoise&) = delete;
  WeightNoise& operator=(const WeightNoise&) = delete;

 private:
  Parameters& parameters_;
  std::vector<Tensor> before_;  // of every parameter; empty without noise
};

}  // namespace heed
