#include "heed/autograd/tensor_math.h"

#include <vector>

#include "heed/kernels/gemm.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

// Row strides of a tensor seen as rows of its last axis, or false if the rows are not evenly spaced.
bool evenly_spaced(const Tensor& x, Index& row_stride) {
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
  if (evenly_spaced(x, x_stride) && evenly_spaced(y, y_stride)) {
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

namespace {

// A matrix as gemm reads it: rows at a distance, or columns. Copies a layout that is neither.
kernels::Matrix as_matrix(Tensor& x) {
  const auto fits = [](Index unit, Index distance, Index count, Index lines) {
    return (unit == 1 || count == 1) && (distance >= count || lines == 1);
  };
  const Index rows = x.size(-2), columns = x.size(-1);
  if (fits(x.stride(-1), x.stride(-2), columns, rows))
    return {x.data(), std::max({x.stride(-2), columns, Index{1}}), false};
  if (fits(x.stride(-2), x.stride(-1), rows, columns))
    return {x.data(), std::max({x.stride(-1), rows, Index{1}}), true};
  x = x.copy();
  return {x.data(), std::max<Index>(columns, 1), false};
}

// Where each matrix of a batch starts, in row-major order of the batch axes.
std::vector<Index> batch_offsets(const Tensor& x, const Shape& batch) {
  std::vector<Index> offsets(static_cast<std::size_t>(batch.size()), 0);
  Index repeat = 1;
  for (int axis = batch.rank() - 1; axis >= 0; repeat *= batch[axis--])
    for (std::size_t i = 0; i < offsets.size(); ++i)
      offsets[i] += static_cast<Index>(i) / repeat % batch[axis] * x.stride(axis);
  return offsets;
}

}  // namespace

Tensor product(const Tensor& a, const Tensor& b, const char* op) {
  require(a.rank() >= 2 && b.rank() >= 2, "[{}] needs matrices, not shapes {} and {}", op, a.shape(), b.shape());
  require(a.size(-1) == b.size(-2), "[{}] inner dimensions differ: {} and {} (shapes {} and {})", op, a.size(-1),
          b.size(-2), a.shape(), b.shape());
  const Index m = a.size(-2), k = a.size(-1), n = b.size(-1);
  if (b.rank() == 2 && a.rank() > 2)  // one product for the whole batch
    return product(as_rows(a), b, op).reshape(a.shape().with(-1, n));

  const Shape batch = broadcast(a.shape().leading(a.rank() - 2), b.shape().leading(b.rank() - 2), op);
  Tensor c(batch.append(m).append(n));
  if (c.size() == 0) return c;
  Tensor x = a.expand(batch.append(m).append(k)), y = b.expand(batch.append(k).append(n));
  const kernels::Matrix left = as_matrix(x), right = as_matrix(y);
  if (batch.size() == 1) {
    kernels::gemm(m, n, k, 1, left, right, 0, c.data(), n);
  } else {
    const std::vector<Index> from_x = batch_offsets(x, batch), from_y = batch_offsets(y, batch),
                             to = batch_offsets(c, batch);
    kernels::gemm_batch(batch.size(), m, n, k, 1, left, right, 0, c.data(), n,
                        {from_x.data(), from_y.data(), to.data()});
  }
  return c;
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

Mask fitted(const Mask& mask, const Shape& shape, const char* op) {
  if (!mask) return mask;
  require(broadcast(mask.shape(), shape, op) == shape, "[{}] a mask of shape {} does not fit {}", op, mask.shape(),
          shape);
  const Mask wide = mask.expand(shape);
  return wide.size(-1) <= 1 || wide.stride(-1) == 1 ? wide : wide.copy();
}

}  // namespace heed
