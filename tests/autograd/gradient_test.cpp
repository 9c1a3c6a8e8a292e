#include "heed/autograd/gradient.h"

#include <gtest/gtest.h>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/embedding.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/var.h"

namespace heed::test {
namespace {

using Numbers = std::vector<Real>;
Numbers numbers(const Tensor& x) {
  const Tensor packed = x.contiguous();
  return {packed.values().begin(), packed.values().end()};
}
Ids ids_of(std::initializer_list<std::int32_t> ids) { return Ids(Shape{static_cast<Index>(ids.size())}, ids); }

TEST(Gradient, EmptyIsZeros) {
  const Gradient nothing;
  EXPECT_TRUE(nothing.empty());
  EXPECT_EQ(numbers(nothing.to_dense(Shape{2})), (Numbers{0, 0}));
}

TEST(Gradient, RowsAreMergedInRisingOrder) {
  Gradient gradient = Gradient::of_rows(ids_of({4, 1, 4}), Tensor(Shape{3, 2}, {1, 2, 3, 4, 5, 6}));
  gradient.add(Gradient::of_rows(ids_of({0, 1}), Tensor(Shape{2, 2}, {7, 8, 9, 10})));
  ASSERT_TRUE(gradient.sparse());
  const RowGradient merged = gradient.merged();
  EXPECT_EQ(std::vector<std::int32_t>(merged.ids.values().begin(), merged.ids.values().end()),
            (std::vector<std::int32_t>{0, 1, 4}));
  EXPECT_EQ(numbers(merged.rows), (Numbers{7, 8, 12, 14, 6, 8}));
  EXPECT_EQ(numbers(gradient.to_dense(Shape{5, 2})), (Numbers{7, 8, 12, 14, 0, 0, 0, 0, 6, 8}));
}

// In float 1e8 swallows a 1: the result says in which order the three were added.
TEST(Gradient, RepeatedRowsAreSummedInTheOrderTheyCame) {
  const Gradient cancelled = Gradient::of_rows(ids_of({2, 2, 2}), Tensor(Shape{3, 1}, {1e8, -1e8, 1}));
  EXPECT_EQ(cancelled.merged().rows.item(), 1);
  const Gradient swallowed = Gradient::of_rows(ids_of({2, 2, 2}), Tensor(Shape{3, 1}, {1e8, 1, -1e8}));
  EXPECT_EQ(swallowed.merged().rows.item(), 0);
}

TEST(Gradient, NoRowsMergeToNone) {
  const Gradient gradient = Gradient::of_rows(Ids(Shape{0}), Tensor(Shape{0, 3}));
  EXPECT_EQ(gradient.merged().ids.size(), 0);
  EXPECT_EQ(gradient.merged().rows.shape(), (Shape{0, 3}));
}

TEST(Gradient, RowsAndDenseMixEitherWay) {
  const Tensor dense(Shape{3, 2}, {10, 20, 30, 40, 50, 60});
  const auto rows = [] { return Gradient::of_rows(ids_of({2, 0, 2}), Tensor(Shape{3, 2}, {1, 2, 3, 4, 5, 6})); };
  const Numbers expected = {13, 24, 30, 40, 56, 68};
  Gradient first(dense);
  first.add(rows());
  EXPECT_FALSE(first.sparse());
  EXPECT_EQ(numbers(first.dense()), expected);
  Gradient second = rows();
  second.add(Gradient(dense));
  EXPECT_FALSE(second.sparse());
  EXPECT_EQ(numbers(second.dense()), expected);
  EXPECT_EQ(numbers(dense), (Numbers{10, 20, 30, 40, 50, 60}));  // the caller's tensor stays
}

TEST(Gradient, SlicesJoinAnyOther) {
  const auto slice = [] { return Gradient::of_slice({Shape{2, 3}, 1, 1, Tensor(Shape{2, 2}, {1, 2, 3, 4})}); };
  Gradient gradient;
  gradient.add(slice());
  EXPECT_EQ(numbers(gradient.to_dense(Shape{2, 3})), (Numbers{0, 1, 2, 0, 3, 4}));
  gradient.add(Gradient::of_rows(ids_of({1}), Tensor(Shape{1, 3}, {10, 20, 30})));
  EXPECT_EQ(numbers(gradient.dense()), (Numbers{0, 1, 2, 10, 23, 34}));
  Gradient rows = Gradient::of_rows(ids_of({1}), Tensor(Shape{1, 3}, {10, 20, 30}));
  rows.add(slice());
  EXPECT_FALSE(rows.sparse());
  EXPECT_EQ(numbers(rows.dense()), (Numbers{0, 1, 2, 10, 23, 34}));
}

// leftᵀ · right of whole numbers, in the columns from `begin` on, added to `sum`.
void add_product(const ProductGradient& product, Tensor& sum) {
  for (Index w = 0; w < product.left.size(0); ++w)
    for (Index i = 0; i < product.left.size(1); ++i)
      for (Index j = 0; j < product.right.size(1); ++j)
        sum.data()[i * sum.size(1) + product.begin + j] += product.left.at({w, i}) * product.right.at({w, j});
}

Tensor drawn_numbers(const Shape& shape, int seed) {
  Tensor x(shape);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<Real>((i * 7 + seed * 5) % 11 - 5);
  return x;
}

TEST(Gradient, ProductsWaitAndAddUpWithAnyOther) {
  const Shape matrix{3, 5};
  const Tensor gates = drawn_numbers(Shape{4, 6}, 1);
  const std::vector<ProductGradient> products = {
      {drawn_numbers(Shape{2, 3}, 2), drawn_numbers(Shape{2, 5}, 3), 0},
      {drawn_numbers(Shape{4, 3}, 4), gates.slice(1, 1, 3), 3},  // a view of columns
      {drawn_numbers(Shape{1, 3}, 5), drawn_numbers(Shape{1, 5}, 6), 0},
      {Tensor(Shape{0, 3}), Tensor(Shape{0, 5}), 0}};
  Tensor expected(matrix, Real{2});
  for (const ProductGradient& product : products) add_product(product, expected);
  const Tensor twos(matrix, Real{2});
  for (std::size_t place = 0; place <= products.size(); ++place) {
    Gradient gradient;
    for (std::size_t i = 0; i <= products.size(); ++i) {
      if (i == place) gradient.add(twos);
      if (i < products.size()) gradient.add(Gradient::of_products(matrix, {products[i]}));
    }
    EXPECT_FALSE(gradient.empty());
    EXPECT_EQ(numbers(gradient.to_dense(matrix)), numbers(expected));
    gradient.settle();
    EXPECT_EQ(numbers(gradient.dense()), numbers(expected));
  }
  EXPECT_EQ(twos.at({0, 0}), 2);
}

TEST(Gradient, ProductsOfABatchOfMatricesAddUp) {
  const Shape matrices{2, 1, 3, 4};
  Tensor expected(matrices, Real{0});
  Gradient gradient;
  for (int step = 0; step < 3; ++step) {
    const Tensor left = drawn_numbers(Shape{2, 1, 2, 3}, step);
    // The second stands transposed in memory.
    const Tensor right =
        step == 1 ? drawn_numbers(Shape{2, 1, 4, 2}, step).transpose(2, 3) : drawn_numbers(Shape{2, 1, 2, 4}, 7 + step);
    for (Index b = 0; b < 2; ++b) {
      Tensor sum = expected.slice(0, b, b + 1).reshape(Shape{3, 4}).copy();
      add_product(
          {left.slice(0, b, b + 1).reshape(Shape{2, 3}), right.slice(0, b, b + 1).contiguous().reshape(Shape{2, 4})},
          sum);
      std::copy_n(sum.data(), 12, expected.data() + b * 12);
    }
    gradient.add(Gradient::of_products(matrices, {{left, right}}));
    if (step == 1) gradient.settle();  // the last one is added to a sum
  }
  EXPECT_EQ(numbers(gradient.to_dense(matrices)), numbers(expected));
}

TEST(Gradient, OnlyWhatNobodyElseHoldsIsTaken) {
  const Tensor shared(Shape{2}, {3, 4});
  Gradient gradient(shared);
  EXPECT_FALSE(gradient.take_dense());
  EXPECT_EQ(numbers(gradient.dense()), (Numbers{3, 4}));
  gradient.add(Gradient(Tensor(Shape{2}, {1, 1})));  // a copy of its own
  EXPECT_EQ(numbers(gradient.take_dense()), (Numbers{4, 5}));
  EXPECT_TRUE(gradient.empty());
}

TEST(Gradient, ProductsAndRowsOfOneTable) {
  const Shape table{3, 2};
  Gradient gradient = Gradient::of_rows(ids_of({2}), Tensor(Shape{1, 2}, Real{1}));
  const ProductGradient product{drawn_numbers(Shape{2, 3}, 1), drawn_numbers(Shape{2, 2}, 2)};
  gradient.add(Gradient::of_products(table, {product}));
  Tensor expected(table, Real{0});
  add_product(product, expected);
  expected.data()[4] += 1, expected.data()[5] += 1;
  gradient.settle();
  EXPECT_FALSE(gradient.sparse());
  EXPECT_EQ(numbers(gradient.dense()), numbers(expected));
}

TEST(Gradient, TooManyWaitingWordsAreComputed) {
  const Shape matrix{2, 2};
  const ProductGradient product{Tensor(Shape{1000, 2}, Real{1}), Tensor(Shape{1000, 2}, Real{1})};
  Gradient gradient;
  for (int i = 0; i < 7; ++i) gradient.add(Gradient::of_products(matrix, {product}));
  EXPECT_TRUE(gradient.dense());
  EXPECT_EQ(numbers(gradient.to_dense(matrix)), numbers(Tensor(matrix, Real{7000})));
}

TEST(Gradient, ScaleLeavesSharedMemoryAlone) {
  const Tensor shared(Shape{2}, {3, 4});
  Gradient gradient(shared);
  gradient.scale(Real{0.5});
  EXPECT_EQ(numbers(gradient.dense()), (Numbers{1.5, 2}));
  EXPECT_EQ(numbers(shared), (Numbers{3, 4}));
  const Tensor rows(Shape{1, 2}, {6, 8});
  Gradient sparse = Gradient::of_rows(ids_of({0}), rows);
  sparse.scale(Real{0.5});
  EXPECT_EQ(numbers(sparse.merged().rows), (Numbers{3, 4}));
  EXPECT_EQ(numbers(rows), (Numbers{6, 8}));
}

TEST(Gradient, AViewAddsLikeItsNumbers) {
  const Tensor matrix(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  Gradient gradient(matrix.transpose(0, 1));
  gradient.add(Gradient(Tensor(Shape{3, 2}, {10, 20, 30, 40, 50, 60})));
  EXPECT_EQ(numbers(gradient.dense()), (Numbers{11, 24, 32, 45, 53, 66}));
  EXPECT_EQ(numbers(matrix), (Numbers{1, 2, 3, 4, 5, 6}));
}

// A table that is looked up twice and is also the output's weights: rows, rows and a dense part.
TEST(Gradient, ATiedTableGetsRowsAndDenseTogether) {
  const Var table = Var::leaf(Tensor(Shape{3, 2}, {1, 2, 3, 4, 5, 6}));
  const Var looked_up = embedding(table, ids_of({0, 2, 0}));
  EXPECT_TRUE(backward(sum(looked_up)).find(table)->sparse());
  const Var again = sum(embedding(table, ids_of({0, 2, 0}))) + sum(embedding(table, ids_of({1}))) +
                    sum(matmul(Var(Tensor(Shape{1, 2}, {10, 100})), table, {false, true}));
  EXPECT_EQ(numbers(backward(again).of(table)), (Numbers{12, 102, 11, 101, 11, 101}));
}

TEST(Gradient, RowsOfAComputedTableReachItsInputs) {
  const Var x = Var::leaf(Tensor(Shape{3, 2}, {1, 2, 3, 4, 5, 6}));
  const Var y = embedding(Real{2} * x, ids_of({2, 2, 0})) + gather(x, 0, ids_of({1, 1, 1}));
  EXPECT_EQ(numbers(backward(sum(y)).of(x)), (Numbers{2, 2, 3, 3, 4, 4}));
}

}  // namespace
}  // namespace heed::test
