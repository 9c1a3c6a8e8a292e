#include "heed/train/average.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

struct Model {
  Model() { x = parameters.add("x", Shape{2}, init::constant(1)); }
  void set(Real value) { std::fill_n(x.value().data(), 2, value); }
  Parameters parameters;
  Var x;
};

TEST(WeightAverage, FollowsItsFormula) {
  Model model;
  WeightAverage average(model.parameters, 0.75);
  model.set(5);
  average.update(model.parameters);  // 1 + (5 − 1) / 4
  EXPECT_EQ(average.state().tensor("x", "test").at({0}), 2);
  model.set(10);
  average.update(model.parameters);  // 2 + (10 − 2) / 4
  EXPECT_EQ(average.state().tensor("x", "test").at({1}), 4);
}

TEST(WeightAverage, BiasCorrectionForgetsTheStart) {
  Model model;
  WeightAverage average(model.parameters, 0.9, true);
  double sum = 0, norm = 0;
  for (const double value : {3.0, -1.0, 4.0, 1.0, -5.0}) {
    model.set(static_cast<Real>(value));
    average.update(model.parameters);
    sum = 0.9 * sum + 0.1 * value;  // from zero, as Adam's moments
    norm = 0.9 * norm + 0.1;        // = 1 − 0.9ᵗ
    EXPECT_NEAR(average.state().tensor("x", "test").at({0}), sum / norm, 1e-6);
  }
}

TEST(WeightAverage, ApplyAndRestoreAreExact) {
  Model model;
  WeightAverage average(model.parameters, 0.75);
  model.set(5);
  average.update(model.parameters);
  const Var handle = model.x;  // as a layer holds it
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
  Model model;
  WeightAverage average(model.parameters, 0.9, true), resumed(model.parameters, 0.9, true);
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
  Model model;
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
