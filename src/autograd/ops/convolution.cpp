#include "heed/autograd/ops/convolution.h"

#include <algorithm>
#include <tuple>

#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/kernels/convolution.h"
#include "heed/kernels/depthwise.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

void check_shapes(const char* op, int rank, const Var& x, const Var& weight, const Var& bias) {
  const bool image = rank == 4;
  require(x.rank() == rank, "[{}] the input must be {}, not of shape {}", op,
          image ? "[batch, height, width, in]" : "[batch, time, in]", x.shape());
  require(weight.rank() == rank, "[{}] the weight must be {}, not of shape {}", op,
          image ? "[kernel height, kernel width, in, out]" : "[kernel, in, out]", weight.shape());
  require(x.size(-1) == weight.size(-2), "[{}] the input {} has {} channels, the weight {} takes {}", op, x.shape(),
          x.size(-1), weight.shape(), weight.size(-2));
  require(!bias || bias.shape() == Shape{weight.size(-1)}, "[{}] the bias must be of shape [{}], not {}", op,
          weight.size(-1), bias.shape());
}

const Real* data_or_null(const Tensor& tensor) { return tensor ? tensor.data() : nullptr; }

// Σ dy over every axis but the last.
Tensor bias_gradient(const Tensor& dy) {
  const Index out = dy.size(-1);
  Tensor db(Shape{out});
  kernels::sum(1, out == 0 ? 0 : dy.size() / out, out, dy.data(), db.data());
  return db;
}

// How a kernel [height, width, ...] slides over the rows and the columns of x [batch, height, width, ...].
std::pair<kernels::Window, kernels::Window> windows(const char* op, const Var& x, const Var& weight,
                                                    const Convolution2d& options) {
  const auto& [stride, dilation, padding, behind] = options;
  return {
      slide({op, "height", "kernel"}, {x.size(1), 0, weight.size(0), stride.height, dilation.height, padding.height},
            padding.height + behind.height),
      slide({op, "width", "kernel"}, {x.size(2), 0, weight.size(1), stride.width, dilation.width, padding.width},
            padding.width + behind.width)};
}

// What the kernel sees at each place, zeros beyond the input: [batch · time.output, kernel · in].
Tensor windows_of(const kernels::Conv1dSizes& sizes, const Tensor& x) {
  const kernels::Window& time = sizes.time;
  Tensor rows(Shape{sizes.batch * time.output, time.kernel * sizes.in}, Real{0});
  for (Index b = 0; b < sizes.batch; ++b)
    for (Index o = 0; o < time.output; ++o) {
      const auto [begin, end] = time.inside(o);
      for (Index tap = begin; tap < end; ++tap)
        std::copy_n(x.data() + (b * time.input + time.position(o, tap)) * sizes.in, sizes.in,
                    rows.data() + ((b * time.output + o) * time.kernel + tap) * sizes.in);
    }
  return rows;
}

}  // namespace

Var conv1d(const Var& x, const Var& weight, const Var& bias, const Convolution1d& options) {
  check_shapes("conv1d", 3, x, weight, bias);
  const Index kernel = weight.size(0);
  Index all = 0;
  require(options.padding == Padding::none || !__builtin_mul_overflow(kernel - 1, options.dilation, &all),
          "[conv1d] a kernel of {} with dilation {} reaches too far", kernel, options.dilation);
  const Index before = options.padding == Padding::causal ? all : all / 2;
  kernels::Conv1dSizes sizes;
  sizes.batch = x.size(0), sizes.in = x.size(-1), sizes.out = weight.size(-1);
  sizes.time = slide({"conv1d", "time", "kernel"}, {x.size(1), 0, kernel, options.stride, options.dilation, before},
                     all - before);

  if (weight.int8()) {
    // Each window as one row, times all of the weights.
    const Tensor rows = windows_of(sizes, x.value().contiguous());
    return reshape(linear(rows, reshape(weight, Shape{rows.size(1), sizes.out}), bias),
                   Shape{sizes.batch, sizes.time.output, sizes.out});
  }
  const Tensor input = x.value().contiguous(), w = weight.value().contiguous(), b = bias.value().contiguous();
  Tensor y(Shape{sizes.batch, sizes.time.output, sizes.out});
  kernels::conv1d(sizes, input.data(), w.data(), data_or_null(b), y.data(),
                  Tensor(Shape{kernels::conv1d_scratch(sizes)}).data());
  return record("conv1d", y, {x, weight, bias},
                [sizes, input = weight.wants_gradient() ? input : Tensor(), w = x.wants_gradient() ? w : Tensor(),
                 x_shape = x.shape(), w_shape = weight.shape()](const Tensor& dy, Wanted wanted) {
                  Tensor scratch(Shape{kernels::conv1d_scratch(sizes)}), dx, dw;
                  if (wanted(0)) {
                    dx = Tensor(x_shape);
                    kernels::conv1d_input_gradient(sizes, dy.data(), w.data(), dx.data(), scratch.data());
                  }
                  if (wanted(1)) {
                    dw = Tensor(w_shape);
                    kernels::conv1d_weight_gradient(sizes, input.data(), dy.data(), dw.data(), scratch.data());
                  }
                  return grads(dx, dw, wanted(2) ? bias_gradient(dy) : Tensor());
                });
}

Var conv2d(const Var& x, const Var& weight, const Var& bias, const Convolution2d& options) {
  check_shapes("conv2d", 4, x, weight, bias);
  kernels::Conv2dSizes sizes;
  sizes.batch = x.size(0), sizes.in = x.size(-1), sizes.out = weight.size(-1), sizes.biased = static_cast<bool>(bias);
  std::tie(sizes.height, sizes.width) = windows("conv2d", x, weight, options);

  using kernels::ConvPass;
  const auto scratch_for = [sizes](ConvPass pass) { return Tensor(Shape{kernels::conv2d_scratch(sizes, pass)}); };
  const Tensor input = x.value().contiguous(), w = weight.value().contiguous(), b = bias.value().contiguous();
  Tensor y(Shape{sizes.batch, sizes.height.output, sizes.width.output, sizes.out});
  kernels::conv2d(sizes, input.data(), w.data(), data_or_null(b), y.data(), scratch_for(ConvPass::forward).data());
  return record(
      "conv2d", y, {x, weight, bias},
      [sizes, scratch_for, input = weight.wants_gradient() ? input : Tensor(), w = x.wants_gradient() ? w : Tensor(),
       x_shape = x.shape(), w_shape = weight.shape()](const Tensor& dy, Wanted wanted) {
        Tensor dx, dw;
        if (wanted(0)) {
          dx = Tensor(x_shape);
          kernels::conv2d_input_gradient(sizes, dy.data(), w.data(), dx.data(),
                                         scratch_for(ConvPass::input_gradient).data());
        }
        if (wanted(1)) {
          dw = Tensor(w_shape);
          kernels::conv2d_weight_gradient(sizes, input.data(), dy.data(), dw.data(),
                                          scratch_for(ConvPass::weight_gradient).data());
        }
        return grads(dx, dw, wanted(2) ? bias_gradient(dy) : Tensor());
      });
}

Var depthwise_conv2d(const Var& x, const Var& weight, const Var& bias, const Convolution2d& options) {
  const char* op = "depthwise_conv2d";
  require(x.rank() == 4, "[{}] the input must be [batch, height, width, channels], not of shape {}", op, x.shape());
  require(weight.rank() == 3 && weight.size(2) == x.size(3),
          "[{}] the weight must be [kernel height, kernel width, {}], not of shape {}", op, x.size(3), weight.shape());
  require(!bias || bias.shape() == Shape{x.size(3)}, "[{}] the bias must be of shape [{}], not {}", op, x.size(3),
          bias.shape());
  kernels::DepthwiseSizes sizes;
  sizes.batch = x.size(0), sizes.channels = x.size(3);
  std::tie(sizes.height, sizes.width) = windows(op, x, weight, options);

  const Tensor input = x.value().contiguous(), w = weight.value().contiguous(), b = bias.value().contiguous();
  Tensor y(Shape{sizes.batch, sizes.height.output, sizes.width.output, sizes.channels});
  kernels::depthwise(sizes, input.data(), w.data(), data_or_null(b), y.data());
  return record("depthwise_conv2d", y, {x, weight, bias},
                [sizes, input = weight.wants_gradient() ? input : Tensor(), w = x.wants_gradient() ? w : Tensor(),
                 x_shape = x.shape(), w_shape = weight.shape()](const Tensor& dy, Wanted wanted) {
                  Tensor dx, dw;
                  if (wanted(0)) {
                    dx = Tensor(x_shape);
                    kernels::depthwise_input_gradient(sizes, dy.data(), w.data(), dx.data());
                  }
                  if (wanted(1)) {
                    dw = Tensor(w_shape);
                    kernels::depthwise_weight_gradient(sizes, input.data(), dy.data(), dw.data());
                  }
                  return grads(dx, dw, wanted(2) ? bias_gradient(dy) : Tensor());
                });
}

}  // namespace heed
