#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "support/messages.h"

// check_numbers: the first op that makes a NaN or an infinity is named.

namespace heed::test {
namespace {

struct CheckNumbers {
  CheckNumbers() { check_numbers(true); }
  ~CheckNumbers() { check_numbers(false); }
};

TEST(CheckNumbers, IsOffByDefault) {
  EXPECT_FALSE(checking_numbers());
  const Var x = Var::leaf(Tensor(Shape{2}, {1, -1}));
  const Var y = log(x);
  EXPECT_TRUE(std::isnan(y.value().at({1})));
  EXPECT_NO_THROW(backward(sum(y)));
}

TEST(CheckNumbers, NamesTheOpThatMadeTheFirstBadValue) {
  const CheckNumbers on;
  const Var x = Var::leaf(Tensor(Shape{2, 2}, {1, 2, 0, -1}));
  EXPECT_EQ(message_of([&] { tanh(log(square(x) - x)); }),
            "[log] made a value that is not finite: -inf at element 0 of shape [2, 2]");
  EXPECT_EQ(message_of([&] { exp(square(Real{20} * x)); }),
            "[exp] made a value that is not finite: inf at element 0 of shape [2, 2]");
  const std::string text = message_of([&] { sqrt(x); });
  EXPECT_EQ(text.rfind("[sqrt] made a value that is not finite: ", 0), 0u) << text;
  EXPECT_NE(text.find("nan at element 3 of shape [2, 2]"), std::string::npos) << text;
}

TEST(CheckNumbers, ValuesAreCheckedWhereNothingIsRecorded) {
  const CheckNumbers on;
  const NoGradient off;
  EXPECT_EQ(message_of([] { log(Var(Tensor(Shape{1}, Real{0}))); }),
            "[log] made a value that is not finite: -inf at element 0 of shape [1]");
}

TEST(CheckNumbers, NamesTheOpThatMadeTheFirstBadGradient) {
  const CheckNumbers on;
  const Var x = Var::leaf(Tensor(Shape{3}, {4, 0, 1}));
  const Var y = sum(Real{2} * tanh(sqrt(x)));  // finite, but √ has no slope at 0
  EXPECT_EQ(message_of([&] { backward(y); }),
            "[sqrt] made a gradient that is not finite: inf at element 1 of shape [3]");
}

TEST(CheckNumbers, FiniteWorkPasses) {
  const CheckNumbers on;
  const Var x = Var::leaf(Tensor(Shape{2}, {std::numeric_limits<Real>::max(), std::numeric_limits<Real>::lowest()}));
  const Gradients gradients = backward(sum(x * Var(Tensor(Shape{2}, {1, 0}))));
  EXPECT_EQ(gradients.of(x).at({0}), 1);
}

}  // namespace
}  // namespace heed::test
