#include "heed/store/training_state.h"

namespace heed {

const Tensor& TrainingState::tensor(const std::string& name, const char* who) const {
  for (const NamedTensor& each : tensors)
    if (each.name == name) return each.tensor;
  fail("[{}] the saved state has no tensor {}", who, name);
}

double TrainingState::number(const std::string& name, const char* who) const {
  for (const NamedNumber& each : numbers)
    if (each.name == name) return each.number;
  fail("[{}] the saved state has no number {}", who, name);
}

}  // namespace heed
