#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "heed/tensor/tensor.h"

// Any chain of views equals the same chain of naive copies.

namespace heed::test {
namespace {

// A tensor that always copies: row-major numbers and nothing clever.
struct Naive {
  std::vector<Index> sizes;
  std::vector<Real> values;

  Shape shape() const { return Shape(std::span<const Index>(sizes)); }
  int rank() const { return static_cast<int>(sizes.size()); }
};

// A new tensor of `sizes` whose element at a position is that of `from` at source(position).
template <class Source>
Naive rebuilt(const Naive& from, std::vector<Index> sizes, const Source& source) {
  Naive result{std::move(sizes), {}};
  const Index count = result.shape().size();
  for (Index flat = 0; flat < count; ++flat) {
    std::vector<Index> position(result.sizes.size());
    Index rest = flat;
    for (std::size_t i = position.size(); i-- > 0; rest /= result.sizes[i]) position[i] = rest % result.sizes[i];
    const std::vector<Index> at = source(position);
    Index offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) offset = offset * from.sizes[i] + at[i];
    result.values.push_back(from.values[static_cast<std::size_t>(offset)]);
  }
  return result;
}

int below(int bound) { return *rc::gen::inRange(0, bound); }

struct Pair {
  Naive naive;
  Tensor tensor;
};

Pair transposed(const Pair& x) {
  const int rank = x.naive.rank();
  if (rank == 0) return x;
  const int a = below(rank), b = below(rank);
  std::vector<Index> sizes = x.naive.sizes;
  std::swap(sizes[static_cast<std::size_t>(a)], sizes[static_cast<std::size_t>(b)]);
  return {rebuilt(x.naive, sizes,
                  [&](std::vector<Index> position) {
                    std::swap(position[static_cast<std::size_t>(a)], position[static_cast<std::size_t>(b)]);
                    return position;
                  }),
          x.tensor.transpose(below(2) ? a : a - rank, b)};
}

Pair sliced(const Pair& x) {
  const int rank = x.naive.rank();
  if (rank == 0) return x;
  const int axis = below(rank);
  const Index size = x.naive.sizes[static_cast<std::size_t>(axis)];
  const Index begin = *rc::gen::inRange<Index>(0, size + 1), end = *rc::gen::inRange<Index>(begin, size + 1);
  std::vector<Index> sizes = x.naive.sizes;
  sizes[static_cast<std::size_t>(axis)] = end - begin;
  return {rebuilt(x.naive, sizes,
                  [&](std::vector<Index> position) {
                    position[static_cast<std::size_t>(axis)] += begin;
                    return position;
                  }),
          x.tensor.slice(below(2) ? axis : axis - rank, begin, end)};
}

Pair expanded(const Pair& x) {
  std::vector<Index> sizes = x.naive.sizes;
  for (Index& size : sizes)
    if (size == 1) size = *rc::gen::inRange<Index>(0, 4);
  const bool more = x.naive.rank() < 5 && below(2);
  if (more) sizes.insert(sizes.begin(), *rc::gen::inRange<Index>(0, 4));
  return {rebuilt(x.naive, sizes,
                  [&](std::vector<Index> position) {
                    if (more) position.erase(position.begin());
                    for (std::size_t i = 0; i < position.size(); ++i)
                      if (x.naive.sizes[i] == 1) position[i] = 0;
                    return position;
                  }),
          x.tensor.expand(Shape(std::span<const Index>(sizes)))};
}

Pair reshaped(const Pair& x) {
  std::vector<Index> sizes = x.naive.sizes;
  if (sizes.size() >= 2 && below(2)) {  // two neighbours become one
    const auto at = static_cast<std::size_t>(below(static_cast<int>(sizes.size()) - 1));
    sizes[at] *= sizes[at + 1];
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else if (sizes.size() < 5) {  // an axis of one
    sizes.insert(sizes.begin() + below(static_cast<int>(sizes.size()) + 1), 1);
  }
  return {{sizes, x.naive.values}, x.tensor.reshape(Shape(std::span<const Index>(sizes)))};
}

void expect_same(const Pair& x) {
  RC_ASSERT(x.tensor.shape() == x.naive.shape());
  for (const Tensor& packed : {x.tensor.copy(), x.tensor.contiguous()}) {
    RC_ASSERT(packed.contiguous_layout());
    RC_ASSERT(std::vector<Real>(packed.values().begin(), packed.values().end()) == x.naive.values);
  }
}

RC_GTEST_PROP(ViewProperty, AnyChainEqualsNaiveCopies, ()) {
  Pair x;
  for (int axes = below(5); axes > 0; --axes) x.naive.sizes.push_back(*rc::gen::inRange<Index>(0, 5));
  for (Index i = 0; i < x.naive.shape().size(); ++i) x.naive.values.push_back(static_cast<Real>(i));
  x.tensor = Tensor(x.naive.shape(), std::span<const Real>(x.naive.values));
  for (int steps = below(7); steps > 0; --steps) {
    switch (below(4)) {
      case 0: x = transposed(x); break;
      case 1: x = sliced(x); break;
      case 2: x = expanded(x); break;
      default: x = reshaped(x); break;
    }
    if (x.naive.values.size() > 2000) return;
    expect_same(x);
  }
}

}  // namespace
}  // namespace heed::test
