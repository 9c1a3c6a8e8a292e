#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "heed/autograd/tensor_math.h"
#include "heed/base/error.h"

// Broadcasting, its adjoint and the batched product against oracles that walk every index. The numbers are small
// integers, so that every result is exact in float and equality is equality.

namespace heed::test {
namespace {

using Sizes = std::vector<Index>;

Shape shape_of(const Sizes& sizes) { return Shape(std::span<const Index>(sizes)); }
int below(int bound) { return *rc::gen::inRange(0, bound); }

Sizes any_sizes(int most_axes) {
  Sizes sizes(static_cast<std::size_t>(below(most_axes + 1)));
  for (Index& size : sizes) size = *rc::gen::inRange<Index>(0, 5);
  return sizes;
}

// Sizes that broadcast to `whole`: some axes 1, leading ones sometimes missing.
Sizes part_of(const Sizes& whole) {
  Sizes part = whole;
  for (Index& size : part)
    if (below(3) == 0) size = 1;
  if (below(3) == 0) part.erase(part.begin(), part.begin() + below(static_cast<int>(part.size()) + 1));
  return part;
}

Tensor any_tensor(const Sizes& sizes) {
  Tensor x(shape_of(sizes));
  for (Real& value : x.values()) value = static_cast<Real>(*rc::gen::inRange(-8, 9));
  return x;
}

// A view of the given sizes that is transposed, cut out of something larger or repeated.
Tensor any_view(const Sizes& sizes) {
  Sizes stored = sizes;
  const int rank = static_cast<int>(sizes.size());
  const int kind = rank == 0 ? 0 : below(4);
  if (kind == 1) {
    const int a = below(rank), b = below(rank);
    std::swap(stored[static_cast<std::size_t>(a)], stored[static_cast<std::size_t>(b)]);
    return any_tensor(stored).transpose(a, b);
  }
  if (kind == 2) {
    const int axis = below(rank);
    Index& size = stored[static_cast<std::size_t>(axis)];
    const Index begin = below(3), length = size;
    size += begin + below(3);
    return any_tensor(stored).slice(axis, begin, begin + length);
  }
  if (kind == 3) return any_tensor(part_of(sizes)).expand(shape_of(sizes));
  return any_tensor(sizes);
}

// Calls visit(position) for every index of a shape, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, const Visit& visit) {
  for (Index flat = 0; flat < shape.size(); ++flat) {
    Sizes position(static_cast<std::size_t>(shape.rank()));
    Index rest = flat;
    for (int i = shape.rank() - 1; i >= 0; rest /= shape[i--]) position[static_cast<std::size_t>(i)] = rest % shape[i];
    visit(position);
  }
}

// Where an element of the broadcast result comes from: its offset in x.
Index source_offset(const Tensor& x, const Sizes& position) {
  Index offset = 0;
  for (int i = 1; i <= x.rank(); ++i)
    if (x.size(-i) != 1) offset += position[position.size() - static_cast<std::size_t>(i)] * x.stride(-i);
  return offset;
}

Sizes whole_numbers(const Tensor& x) {
  const Tensor packed = x.contiguous();
  return Sizes(packed.values().begin(), packed.values().end());
}

double inner_product(const Tensor& x, const Tensor& y) {
  const Tensor a = x.contiguous(), b = y.contiguous();
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
  return sum;
}

RC_GTEST_PROP(BroadcastProperty, EqualsTheIndexByIndexOracle, ()) {
  const Sizes whole = any_sizes(5);
  const Tensor a = any_view(part_of(whole)), b = any_view(part_of(whole));
  const Tensor difference = combine(kernels::Binary::subtract, a, b, "subtract");
  // The shape, from the definition: the larger of both, but 0 wins against 1.
  Sizes expected(static_cast<std::size_t>(std::max(a.rank(), b.rank())));
  for (int i = 1; i <= static_cast<int>(expected.size()); ++i) {
    const Index x = i <= a.rank() ? a.size(-i) : 1, y = i <= b.rank() ? b.size(-i) : 1;
    expected[expected.size() - static_cast<std::size_t>(i)] = x == 1 ? y : x;
  }
  RC_ASSERT(difference.shape() == shape_of(expected));
  Sizes values;
  for_each_index(difference.shape(), [&](const Sizes& position) {
    values.push_back(static_cast<Index>(a.data()[source_offset(a, position)]) -
                     static_cast<Index>(b.data()[source_offset(b, position)]));
  });
  RC_ASSERT(whole_numbers(difference) == values);
}

RC_GTEST_PROP(BroadcastProperty, ShapesFitExactlyWhenTheRuleSaysSo, ()) {
  const Shape a = shape_of(any_sizes(5)), b = shape_of(any_sizes(5));
  bool fits = true;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) fits = fits && (a[-i] == b[-i] || a[-i] == 1 || b[-i] == 1);
  if (fits) {
    RC_ASSERT(broadcast(a, b, "op") == broadcast(b, a, "op"));
  } else {
    RC_ASSERT_THROWS_AS(broadcast(a, b, "op"), Error);
  }
}

RC_GTEST_PROP(BroadcastProperty, SumToIsTheAdjointOfExpand, ()) {
  const Sizes whole = any_sizes(5);
  const Tensor x = any_view(part_of(whole)), y = any_view(whole);
  const Tensor sum = sum_to(y, x.shape());
  RC_ASSERT(sum.shape() == x.shape());
  RC_ASSERT(inner_product(x.expand(y.shape()), y) == inner_product(x, sum));
}

void check_a_product() {
  const Sizes batch = any_sizes(3);
  const Index m = below(5), k = below(5), n = below(5);
  Sizes left = part_of(batch), right = part_of(batch);
  left.insert(left.end(), {m, k});
  right.insert(right.end(), {k, n});
  const Tensor a = any_view(left), b = any_view(right);
  const Tensor c = product(a, b, "matmul");
  const Shape expected = broadcast(a.shape().leading(a.rank() - 2), b.shape().leading(b.rank() - 2), "matmul");
  RC_ASSERT(c.shape() == expected.append(m).append(n));
  Sizes values;
  for_each_index(c.shape(), [&](const Sizes& position) {
    const Index row = *(position.end() - 2), column = position.back();
    const auto matrix = [&](const Tensor& x) {  // the start of x's matrix for this place of the batch
      Index offset = 0;
      for (int i = 3; i <= x.rank(); ++i)
        if (x.size(-i) != 1) offset += position[position.size() - static_cast<std::size_t>(i)] * x.stride(-i);
      return x.data() + offset;
    };
    Index sum = 0;
    for (Index i = 0; i < k; ++i)
      sum += static_cast<Index>(matrix(a)[row * a.stride(-2) + i * a.stride(-1)]) *
             static_cast<Index>(matrix(b)[i * b.stride(-2) + column * b.stride(-1)]);
    values.push_back(sum);
  });
  RC_ASSERT(whole_numbers(c) == values);
}

// Many draws a run: an empty inner axis beside a batch on one side only is rare.
RC_GTEST_PROP(ProductProperty, EqualsTheTripleLoop, ()) {
  for (int i = 0; i < 30; ++i) check_a_product();
}

}  // namespace
}  // namespace heed::test
