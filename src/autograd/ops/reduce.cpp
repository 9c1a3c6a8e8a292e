#include "heed/autograd/ops/reduce.h"

#include "heed/autograd/ops/shape.h"
#include "heed/autograd/tensor_math.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

// factor · Σ over one axis.
Var weighted_sum(const Var& x, int axis, Real factor) {
  const AxisSizes s = around(x.shape(), axis);
  const Shape shape = x.shape();
  Tensor y(shape.without(axis));
  kernels::sum(s.outer, s.axis, s.inner, x.value().contiguous().data(), y.data());
  if (factor != 1) kernels::scale(y.size(), factor, y.data(), y.data());
  return record("sum", y, {x}, [shape, s, factor](const Tensor& dy) {
    Tensor dx(shape);
    kernels::spread(s.outer, s.axis, s.inner, factor, dy.data(), dx.data());
    return grads(dx);
  });
}

Var flat(const Var& x) { return reshape(x, Shape{x.size()}); }

}  // namespace

Var sum(const Var& x, int axis) { return weighted_sum(x, x.shape().axis(axis, "sum"), 1); }

Var mean(const Var& x, int axis) {
  axis = x.shape().axis(axis, "mean");
  require(x.size(axis) > 0, "[mean] axis {} of shape {} is empty", axis, x.shape());
  return weighted_sum(x, axis, Real{1} / static_cast<Real>(x.size(axis)));
}

Var sum(const Var& x) { return sum(flat(x), 0); }
Var mean(const Var& x) { return mean(flat(x), 0); }

Var largest(const Var& x, int axis) {
  axis = x.shape().axis(axis, "largest");
  require(x.size(axis) > 0, "[largest] axis {} of shape {} is empty", axis, x.shape());
  const AxisSizes s = around(x.shape(), axis);
  const Tensor input = x.value().contiguous();
  Tensor y(x.shape().without(axis));
  kernels::largest(s.outer, s.axis, s.inner, input.data(), y.data());
  return record("largest", y, {x}, [input, y, s](const Tensor& dy) {
    Tensor dx(input.shape());
    kernels::largest_backward(s.outer, s.axis, s.inner, dy.data(), input.data(), y.data(), dx.data());
    return grads(dx);
  });
}

}  // namespace heed
