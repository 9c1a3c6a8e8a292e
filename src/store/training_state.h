#pragma once

#include <string>
#include <vector>

#include "heed/tensor/named_tensor.h"

namespace heed {

struct NamedNumber {
  std::string name;
  double number;
};

// What a checkpoint keeps of an optimiser, a schedule or an average so that training goes on bit-identically. The
// tensors are live views: write or copy them before the next step. The numbers are finite; counts are exact.
struct TrainingState {
  std::vector<NamedTensor> tensors;
  std::vector<NamedNumber> numbers;

  // The one of that name, or an error that leads with `who`.
  const Tensor& tensor(const std::string& name, const char* who) const;
  double number(const std::string& name, const char* who) const;
};

}  // namespace heed
