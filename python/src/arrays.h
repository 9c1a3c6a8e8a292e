#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "heed/tensor/tensor.h"

// An array that keeps the tensor alive.
template <class T>
nanobind::ndarray<nanobind::numpy, const T> array_of(const heed::TensorOf<T>& tensor) {
  using Kept = heed::TensorOf<T>;
  auto* kept = new Kept(tensor.contiguous());
  const nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
  std::vector<std::size_t> sizes(kept->shape().sizes().begin(), kept->shape().sizes().end());
  return {kept->data(), sizes.size(), sizes.data(), owner};
}
