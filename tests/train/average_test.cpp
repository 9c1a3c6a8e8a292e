#include "heed/train/average.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed {
namespace {

struct TwoNumbers {
  TwoNumbers() { x = parameters.add("x", Shape{2}, init::constant(1)); }
  void set(Real value) { std::fill_n(x.value().data(), 2, value); }
  Parameters parameters;
  Var x;
};

TEST(WeightAverage, CoversTheLastTenthThenDecays) {
  TwoNumbers model;
  WeightAverage average(model.parameters, 0.75);
  double expected = 1;
  for (int t = 1; t <= 60; ++t) {
    const double value = std::cos(t);
    model.set(static_cast<Real>(value));
    average.update(model.parameters);
    // 10 / (t + 9) is below a quarter from update 32 on.
    expected += (t < 32 ? 10.0 / (t + 9) : 0.25) * (value - expected);
    EXPECT_NEAR(average.state().tensor("x", "test").at({0}), expected, 1e-6) << t;
  }
}

TEST(WeightAverage, TheStartCountsNothing) {
  TwoNumbers model;
  WeightAverage average(model.parameters, 0.999);
  model.set(5);
  average.update(model.parameters);
  EXPECT_EQ(average.state().tensor("x", "test").at({1}), 5);
}

TEST(WeightAverage, ApplyAndRestoreAreExact) {
  TwoNumbers model;
  WeightAverage average(model.parameters, 0.75);
  model.set(2);
  average.update(model.parameters);
  const Var handle = model.x;  // as a layer holds it
  model.set(5);
  average.apply(model.parameters);
  EXPECT_TRUE(average.applied());
  EXPECT_EQ(handle.value().at({0}), 2);
  EXPECT_THROW(average.apply(model.parameters), Error);
  EXPECT_THROW(average.update(model.parameters), Error);
  EXPECT_THROW(average.state(), Error);
  average.restore(model.parameters);
  EXPECT_EQ(handle.value().at({0}), 5);
  EXPECT_EQ(average.state().tensor("x", "test").at({0}), 2);
  EXPECT_THROW(average.restore(model.parameters), Error);
}

TEST(WeightAverage, ResumesExactly) {
  TwoNumbers model;
  WeightAverage average(model.parameters, 0.9), resumed(model.parameters, 0.9);
  for (const Real value : {3, 7}) {
    model.set(value);
    average.update(model.parameters);
  }
  resumed.load_state(average.state());
  model.set(-2);
  average.update(model.parameters);
  resumed.update(model.parameters);
  EXPECT_EQ(average.state().tensor("x", "test").at({0}), resumed.state().tensor("x", "test").at({0}));
}

TEST(WeightAverage, RefusesWhatDoesNotFit) {
  TwoNumbers model;
  EXPECT_THROW(WeightAverage(model.parameters, 1), Error);
  EXPECT_THROW(WeightAverage(model.parameters, -0.1), Error);
  WeightAverage average(model.parameters, 0.5);
  Parameters other;
  EXPECT_THROW(average.update(other), Error);
  other.add("x", Shape{3}, init::zeros());
  try {
    average.update(other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[average] parameter x [3] does not fit the average of x [2]");
  }
  EXPECT_THROW(average.load_state({{{"x", Tensor(Shape{3}, Real{0})}}, {{"updates", 1}}}), Error);
  EXPECT_THROW(average.load_state({{}, {{"updates", 1}}}), Error);
}

}  // namespace
}  // namespace heed
