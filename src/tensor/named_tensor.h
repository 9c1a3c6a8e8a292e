#pragma once

#include <string>

#include "heed/tensor/tensor.h"

namespace heed {

// How tensors go to files and checkpoints.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace heed
