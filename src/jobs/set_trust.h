#pragma once

#include <string>
#include <vector>

#include "heed/jobs/runner.h"
#include "heed/metrics/bootstrap.h"

namespace heed {

// How far a model's weights may be read as the reason for what it gives, over a test set: the numbers of
// explain/faithfulness.h, each beside that of weights in random order.
struct SetTrust {
  struct Number {
    std::string title, name;              // for people, and in JSON
    ScoreInterval own = {}, random = {};  // means over samples; without draws low = high = score
    Index samples = 0;                    // for which it is defined: weights that are all equal agree with nothing
  };
  std::vector<Number> numbers;
  Index samples = 0;   // that were explained
  Index left_out = 0;  // empty ones, and those too long to be measured

  std::string text(Index draws) const;
};

// Explains `most` of the samples (0: all), evenly spread, with the outputs that the model gives itself. Random weights
// are measured for erasures; Kendall's τ with a random order is 0 in the mean. A model that looks at nothing is an
// Error.
SetTrust measure_set_trust(Runner& runner, std::span<const Sample> samples, Index most, Index draws,
                           const ExplainOptions& options = {});

}  // namespace heed
