#pragma once

#include <vector>

#include "heed/nn/parameters.h"
#include "heed/store/training_state.h"

namespace heed {

// A moving average of the weights, for validation and the final model:
//   a ← a + w (x − a),  w = max(1 − decay, 10 / (t + 9)) at update t = 1, 2, …
// At first it covers the last tenth of the updates, whatever their number (polynomial-decay averaging: Shamir, Zhang
// 2013, with η = 9), so that it does not lag behind a young model; once that is longer than 1 / (1 − decay) updates it
// is the exponential average. The weights at construction count nothing.
class WeightAverage {
 public:
  WeightAverage(const Parameters& parameters, double decay);

  // After each optimiser step. Not between apply and restore.
  void update(const Parameters& parameters);

  // Exchanges weights and averages, so that the model runs with the averages; restore exchanges them back, exactly.
  void apply(Parameters& parameters);
  void restore(Parameters& parameters);
  bool applied() const { return applied_; }

  // The averages by parameter name and the number of updates. Not between apply and restore.
  TrainingState state() const;
  // Replaces the state, or changes nothing and throws.
  void load_state(const TrainingState& state);

 private:
  void exchange(Parameters& parameters);
  void check_fit(const Parameters& parameters) const;

  double decay_;
  bool applied_ = false;
  Index updates_ = 0;
  std::vector<NamedTensor> averages_;  // in the parameters' order
};

}  // namespace heed
