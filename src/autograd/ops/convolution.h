#pragma once

#include "heed/autograd/ops/window.h"
#include "heed/autograd/var.h"

namespace heed {

// Channels come last, as everywhere in Heed. A missing bias is a default Var.

enum class Padding {
  none,
  same,    // zeros on both sides, dilation·(kernel - 1) in all, one more behind than in front if that is odd (so for
           // even kernels): with stride 1 the length stays, with stride s it becomes ⌈time / s⌉
  causal,  // dilation·(kernel - 1) zeros in front: output t sees only inputs up to t·stride
};

struct Convolution1d {
  Index stride = 1;
  Index dilation = 1;
  Padding padding = Padding::none;
};
// y[b, t] = bias + Σ_k x[b, t·stride - before + k·dilation] · weight[k]
// x [batch, time, in], weight [kernel, in, out], bias [out] → [batch, time', out].
Var conv1d(const Var& x, const Var& weight, const Var& bias = {}, const Convolution1d& options = {});

struct Convolution2d {
  HeightWidth stride{1, 1};
  HeightWidth dilation{1, 1};
  HeightWidth padding{0, 0};  // zeros on either side
  HeightWidth behind{0, 0};   // further zeros behind the last row and column
};
// x [batch, height, width, in], weight [kernel height, kernel width, in, out], bias [out]
// → [batch, height', width', out].
Var conv2d(const Var& x, const Var& weight, const Var& bias = {}, const Convolution2d& options = {});
// Every channel by itself: x [batch, height, width, channels], weight [kernel height, kernel width, channels],
// bias [channels] → [batch, height', width', channels].
Var depthwise_conv2d(const Var& x, const Var& weight, const Var& bias = {}, const Convolution2d& options = {});

}  // namespace heed
