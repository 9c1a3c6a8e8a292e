#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/kernels/window.h"

namespace heed::kernels {

// What follows a convolution: nothing, max(x, 0), or min(max(x, 0), 6).
enum class Bend { none, relu, relu6 };

// One layer of an image network. Layers are numbered in the order they run.
struct ImageLayer {
  enum class Kind { convolution, depthwise, max_pool };
  Kind kind = Kind::convolution;
  int input = -1;  // the layer that it reads; -1: the pictures
  int added = -1;  // a layer of the same shape that is added before the bend and read by none that runs later
  Window height, width;
  Index in = 0, out = 0;
  Bend bend = Bend::none;
  const Real* weight =
      nullptr;                 // [height.kernel, width.kernel, in, out], depthwise without `in`; read while it is made
  const Real* bias = nullptr;  // [out]
};

#ifndef HEED_DOUBLE

// A whole network of convolutions for pictures of one size, forward only and in float: oneDNN chooses how the numbers
// lie between the layers, bends and sums are part of the convolutions, and only the pictures and the results are in
// order (channels last). It is made for as many threads as the making thread may use then. Unlike other kernels it
// keeps memory, the weights in oneDNN's own order, and throws what oneDNN throws for want of memory.
class ImageNetwork {
 public:
  // `results` are the layers whose outputs are wanted.
  ImageNetwork(Index batch, const std::vector<ImageLayer>& layers, const std::vector<int>& results);
  ~ImageNetwork();
  ImageNetwork(const ImageNetwork&) = delete;
  ImageNetwork& operator=(const ImageNetwork&) = delete;

  // Floats that a run needs, aligned to 64 bytes.
  Index scratch() const;
  // x [batch, height, width, in of the first layer]; results [batch, height.output, width.output, out] each. Many
  // threads may run it at once, each with its own scratch.
  void run(const float* x, std::span<float* const> results, float* scratch) const;

 private:
  class Plan;
  std::unique_ptr<const Plan> plan_;
};

#endif

}  // namespace heed::kernels
