#include "heed/autograd/tensor_math.h"

#include "heed/kernels/reduce.h"

namespace heed {
namespace {

// Row strides of a tensor seen as rows of its last axis, or false if the rows are not evenly spaced.
bool as_rows(const Tensor& x, Index& row_stride) {
  row_stride = 0;
  if (x.rank() < 2) return true;
  // Axes of size 1 say nothing about spacing.
  Index expected = -1;
  for (int i = x.rank() - 2; i >= 0; --i) {
    if (x.size(i) == 1) continue;
    if (expected < 0) {
      row_stride = x.stride(i);
    } else if (x.stride(i) != expected) {
      return false;
    }
    expected = x.stride(i) * x.size(i);
  }
  return true;
}

Tensor with_unit_steps(const Tensor& x) {
  const bool fine = x.rank() == 0 || x.size(-1) == 1 || x.stride(-1) == 1 || x.stride(-1) == 0;
  return fine ? x : x.copy();
}

Index step_of(const Tensor& x) { return x.rank() == 0 || x.size(-1) == 1 ? 0 : x.stride(-1); }

}  // namespace

Tensor combine(kernels::Binary f, const Tensor& a, const Tensor& b, const char* op) {
  const Shape shape = broadcast(a.shape(), b.shape(), op);
  Tensor out(shape);
  if (shape.size() == 0) return out;
  if (a.shape() == b.shape() && a.contiguous_layout() && b.contiguous_layout()) {
    kernels::binary(f, 1, shape.size(), {a.data(), 0, 1}, {b.data(), 0, 1}, out.data());
    return out;
  }
  const Tensor x = with_unit_steps(a).expand(shape), y = with_unit_steps(b).expand(shape);
  const Index n = shape.rank() == 0 ? 1 : shape.back();
  Index x_stride = 0, y_stride = 0;
  if (as_rows(x, x_stride) && as_rows(y, y_stride)) {
    kernels::binary(f, shape.size() / n, n, {x.data(), x_stride, step_of(x)}, {y.data(), y_stride, step_of(y)},
                    out.data());
    return out;
  }
  // Rows are unevenly spaced: walk all axes but the last two.
  const int outer_axes = shape.rank() - 2;
  const Index rows = shape[-2];
  std::array<Index, Shape::kMaxRank> position{};
  for (Index block = 0, blocks = shape.size() / (rows * n); block < blocks; ++block) {
    const Real *from_x = x.data(), *from_y = y.data();
    for (int i = 0; i < outer_axes; ++i) {
      from_x += position[static_cast<std::size_t>(i)] * x.stride(i);
      from_y += position[static_cast<std::size_t>(i)] * y.stride(i);
    }
    kernels::binary(f, rows, n, {from_x, x.stride(-2), step_of(x)}, {from_y, y.stride(-2), step_of(y)},
                    out.data() + block * rows * n);
    for (int i = outer_axes - 1; i >= 0 && ++position[static_cast<std::size_t>(i)] == shape[i]; --i)
      position[static_cast<std::size_t>(i)] = 0;
  }
  return out;
}

Tensor scaled(const Tensor& x, Real factor) {
  Tensor y(x.shape());
  kernels::scale(x.size(), factor, x.contiguous().data(), y.data());
  return y;
}

Tensor apply(kernels::Unary f, const Tensor& x) {
  Tensor y(x.shape());
  kernels::unary(f, x.size(), x.contiguous().data(), y.data());
  return y;
}

AxisSizes around(const Shape& shape, int axis) {
  AxisSizes sizes{1, shape[axis], 1};
  for (int i = 0; i < axis; ++i) sizes.outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) sizes.inner *= shape[i];
  return sizes;
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tensor sum = x.contiguous();
  const int extra = x.rank() - shape.rank();
  // Neighbouring repeated axes are summed in one pass: [outer, axis, inner] → [outer, inner].
  for (int axis = 0; axis < x.rank();) {
    const auto repeated = [&](int i) { return i < extra || (shape[i - extra] == 1 && x.size(i) != 1); };
    if (!repeated(axis)) {
      ++axis;
      continue;
    }
    int end = axis;
    Index repeats = 1, outer = 1, inner = 1;
    for (; end < x.rank() && repeated(end); ++end) repeats *= x.size(end);
    for (int i = 0; i < axis; ++i) outer *= repeated(i) ? 1 : x.size(i);
    for (int i = end; i < x.rank(); ++i) inner *= x.size(i);
    Tensor next(Shape{outer, inner});
    kernels::sum(outer, repeats, inner, sum.data(), next.data());
    sum = next;
    axis = end;
  }
  return sum.reshape(shape);
}

}  // namespace heed
