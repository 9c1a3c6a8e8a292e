#pragma once

#include <cstdint>
#include <string>

#include "heed/tensor/tensor.h"

namespace heed {

// How tensors go to files and checkpoints: numbers, or whole ones of eight bits.
struct NamedTensor {
  std::string name;
  Tensor tensor;
  TensorOf<std::int8_t> bytes = {};  // if it has any, there is no tensor

  const Shape& shape() const { return bytes ? bytes.shape() : tensor.shape(); }
};

}  // namespace heed
