#include "heed/train/constraints.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"

namespace heed::test {
namespace {

TEST(ColumnNorms, AreHeldWhereTheyAreLarger) {
  Parameters parameters(1);
  Var matrix = parameters.add("matrix", Shape{2, 2}, init::constant(0));
  const Var bias = parameters.add("bias", Shape{2}, init::constant(7));
  const Tensor weights(Shape{2, 2}, {3, 0.5, 4, 0.5});
  std::copy_n(weights.data(), 4, matrix.value().data());
  limit_column_norms(parameters, 1);
  EXPECT_NEAR(matrix.value().at({0, 0}), 0.6, 1e-6);
  EXPECT_NEAR(matrix.value().at({1, 0}), 0.8, 1e-6);
  EXPECT_EQ(matrix.value().at({0, 1}), Real{0.5});
  EXPECT_EQ(bias.value().at({0}), 7);
}

TEST(WeightNoise, ComesAndGoes) {
  Parameters parameters(1);
  Var matrix = parameters.add("matrix", Shape{100, 100}, init::normal(1));
  const Tensor before = matrix.value().copy();
  {
    const WeightNoise noise(parameters, 0.075, {3, 4});
    double squares = 0;
    for (Index i = 0; i < before.size(); ++i)
      squares += std::pow(static_cast<double>(matrix.value().data()[i] - before.data()[i]), 2);
    EXPECT_NEAR(std::sqrt(squares / 10'000), 0.075, 0.002);
  }
  EXPECT_TRUE(same_bits(before, matrix.value()));
  const WeightNoise none(parameters, 0, {3, 4});
  EXPECT_TRUE(same_bits(before, matrix.value()));
}

}  // namespace
}  // namespace heed::test
