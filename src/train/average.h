#pragma once

#include <vector>

#include "heed/nn/parameters.h"
#include "heed/store/training_state.h"

namespace heed {

// The exponential moving average of the weights, for validation and the final model:
//   a ← a + w (x − a),  w = 1 − decay, starting from the weights at construction;
// with bias correction (as in Kingma, Ba 2015, section 3) the start counts nothing and
//   w = (1 − decay) / (1 − decayᵗ),
// which is the average Σ decayᵗ⁻ⁱ xᵢ (1 − decay), divided by 1 − decayᵗ, kept in corrected form.
class WeightAverage {
 public:
  WeightAverage(const Parameters& parameters, double decay, bool bias_correction = false);

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
  bool bias_correction_;
  bool applied_ = false;
  Index updates_ = 0;
  std::vector<NamedTensor> averages_;  // in the parameters' order
};

}  // namespace heed
