#pragma once

#include <span>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// One of the outputs that a search found for a sample: what its score is made of, and how good it is.
struct RatedCandidate {
  double fixed = 0;              // the part of the score that has no weight: log p
  std::vector<double> features;  // the score is fixed + Σ w_k features[k]
  double quality = 0;            // more is better
};
using RatedList = std::vector<RatedCandidate>;

// Och 2003, minimum error rate training: weights for which the candidates of the highest scores have the best mean
// quality. One weight after another is moved to the best place on its line, which is found exactly: as it grows, the
// best candidate of a list changes only where two lines cross. It ends when no single weight can be moved for the
// better. Of candidates with equal scores the first counts.
std::vector<double> minimum_error_weights(std::span<const RatedList> lists, std::vector<double> weights);

// The mean quality of the candidates that the weights choose.
double chosen_quality(std::span<const RatedList> lists, std::span<const double> weights);

}  // namespace heed
