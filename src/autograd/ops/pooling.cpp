#include "heed/autograd/ops/pooling.h"

#include "heed/kernels/pooling.h"

namespace heed {
namespace {

using kernels::PoolSizes;

kernels::Window pool_axis(const char* op, const char* axis, Index input, const Pooling1d& options) {
  const auto& [window, stride, padding] = options;
  const kernels::Window result =
      slide({op, axis, "window"}, {input, 0, window, stride.value_or(window), 1, padding}, padding);
  require(padding < window, "[{}] the padding over {} must be smaller than the window: {} and {}", op, axis, padding,
          window);
  require(input > 0, "[{}] there is nothing to pool over {} in an empty input", op, axis);
  return result;
}

PoolSizes sizes_of(const char* op, const Var& x, const Pooling1d& options) {
  require(x.rank() == 3, "[{}] the input must be [batch, time, channels], not of shape {}", op, x.shape());
  return {x.size(0), {}, pool_axis(op, "time", x.size(1), options), x.size(2)};
}

PoolSizes sizes_of(const char* op, const Var& x, const Pooling2d& options) {
  require(x.rank() == 4, "[{}] the input must be [batch, height, width, channels], not of shape {}", op, x.shape());
  const auto& [window, stride, padding] = options;
  const HeightWidth step = stride.value_or(window);
  return {x.size(0), pool_axis(op, "height", x.size(1), {window.height, step.height, padding.height}),
          pool_axis(op, "width", x.size(2), {window.width, step.width, padding.width}), x.size(3)};
}

Shape result_shape(const PoolSizes& sizes, const Shape& input) {
  return input.rank() == 3 ? input.with(1, sizes.width.output)
                           : input.with(1, sizes.height.output).with(2, sizes.width.output);
}

Tensor largest(const PoolSizes& sizes, const Tensor& x) {
  Tensor y(result_shape(sizes, x.shape()));
  kernels::max_pool(sizes, x.data(), y.data());
  return y;
}

Tensor largest_gradient(const PoolSizes& sizes, const Tensor& dy, const Tensor& x, const Tensor& y) {
  Tensor dx(x.shape());
  kernels::max_pool_backward(sizes, dy.data(), x.data(), y.data(), dx.data());
  return dx;
}

Tensor mean(const PoolSizes& sizes, const Tensor& x) {
  Tensor y(result_shape(sizes, x.shape()));
  kernels::mean_pool(sizes, x.data(), y.data());
  return y;
}

Tensor mean_gradient(const PoolSizes& sizes, const Tensor& dy, const Shape& shape) {
  Tensor dx(shape);
  kernels::mean_pool_backward(sizes, dy.data(), dx.data());
  return dx;
}

}  // namespace

Var max_pool1d(const Var& x, const Pooling1d& options) {
  const PoolSizes sizes = sizes_of("max_pool1d", x, options);
  const Tensor input = x.value().contiguous(), y = largest(sizes, input);
  return record("max_pool1d", y, {x},
                [sizes, input, y](const Tensor& dy) { return grads(largest_gradient(sizes, dy, input, y)); });
}

Var max_pool2d(const Var& x, const Pooling2d& options) {
  const PoolSizes sizes = sizes_of("max_pool2d", x, options);
  const Tensor input = x.value().contiguous(), y = largest(sizes, input);
  return record("max_pool2d", y, {x},
                [sizes, input, y](const Tensor& dy) { return grads(largest_gradient(sizes, dy, input, y)); });
}

Var mean_pool1d(const Var& x, const Pooling1d& options) {
  const PoolSizes sizes = sizes_of("mean_pool1d", x, options);
  return record("mean_pool1d", mean(sizes, x.value().contiguous()), {x},
                [sizes, shape = x.shape()](const Tensor& dy) { return grads(mean_gradient(sizes, dy, shape)); });
}

Var mean_pool2d(const Var& x, const Pooling2d& options) {
  const PoolSizes sizes = sizes_of("mean_pool2d", x, options);
  return record("mean_pool2d", mean(sizes, x.value().contiguous()), {x},
                [sizes, shape = x.shape()](const Tensor& dy) { return grads(mean_gradient(sizes, dy, shape)); });
}

}  // namespace heed
