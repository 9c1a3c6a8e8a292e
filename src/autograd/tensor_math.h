#pragma once

#include "heed/kernels/elementwise.h"
#include "heed/tensor/tensor.h"

// Arithmetic on plain tensors: what ops compute their values and gradients from. Nothing here is recorded.

namespace heed {

// a f b with broadcasting.
Tensor combine(kernels::Binary f, const Tensor& a, const Tensor& b, const char* op);
inline Tensor multiply(const Tensor& a, const Tensor& b) {
  return combine(kernels::Binary::multiply, a, b, "multiply");
}
Tensor scaled(const Tensor& x, Real factor);
Tensor apply(kernels::Unary f, const Tensor& x);

// a · b over the last two axes, the leading ones broadcast. Transposed views are read in place, not copied.
Tensor product(const Tensor& a, const Tensor& b, const char* op);
// All axes but the last as one: [..., n] → [rows, n].
inline Tensor as_rows(const Tensor& x) { return x.reshape(Shape{x.shape().leading(x.rank() - 1).size(), x.size(-1)}); }
// Swaps the last two axes: a view.
inline Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }

// The sum over every axis that `shape` had to repeat to become x's shape: the reverse of broadcasting.
Tensor sum_to(const Tensor& x, const Shape& shape);

// A mask expanded to a shape, the last axis readable in order; an empty one stays empty.
Mask fitted(const Mask& mask, const Shape& shape, const char* op);

// Sizes around one axis: element (o, a, i) stands at (o * axis + a) * inner + i.
struct AxisSizes {
  Index outer, axis, inner;
};
AxisSizes around(const Shape& shape, int axis);

}  // namespace heed
