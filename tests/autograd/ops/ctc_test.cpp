#include "heed/autograd/ops/ctc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/autograd/ops/elementwise.h"

namespace heed::test {
namespace {

// What PyTorch gives for these logits, which trying out every path agrees with.
Tensor logits(Index frames) {
  Tensor z(Shape{1, frames, 5});
  for (Index t = 0; t < frames; ++t)
    for (Index c = 0; c < 5; ++c)
      z.data()[t * 5 + c] = static_cast<Real>(std::sin(0.7 * static_cast<double>(t) + 1.3 * static_cast<double>(c)) +
                                              0.1 * static_cast<double>(c));
  return z;
}
Ids one_row(const std::vector<std::int32_t>& list) {
  Ids result(Shape{1, static_cast<Index>(list.size())});
  std::copy(list.begin(), list.end(), result.data());
  return result;
}
Var loss_of(const Var& z, const std::vector<std::int32_t>& labels, CtcImpossible impossible = CtcImpossible::infinite) {
  return ctc_loss(z, Ids(Shape{1}, static_cast<std::int32_t>(z.size(1))),
                  {one_row(labels), Ids(Shape{1}, static_cast<std::int32_t>(labels.size()))}, impossible);
}
double number(const Var& x) { return static_cast<double>(x.value().item()); }

TEST(CtcLoss, IsPyTorchs) {
  EXPECT_NEAR(number(loss_of(Var(logits(8)), {1, 2, 2})), 8.515115251, 2e-6);
  EXPECT_NEAR(number(loss_of(Var(logits(8)), {3})), 8.877378180, 2e-6);
  EXPECT_NEAR(number(loss_of(Var(logits(8)), {})), 15.851184991, 4e-6);
  EXPECT_NEAR(number(loss_of(Var(logits(5)), {1, 2, 3, 4})), 5.308789438, 2e-6);
}

TEST(CtcLoss, HasPyTorchsGradient) {
  const Var z = Var::leaf(logits(8));
  const Tensor dz = backward(scale(loss_of(z, {1, 2, 2}), 2)).of(z);
  const std::vector<std::pair<Index, std::vector<double>>> rows{
      {0, {-.052888704, -.408682373, .282601341, .093762940, .085206795}},
      {3, {-.386621498, .052702861, -.217163266, .124658755, .426423149}},
      {7, {-.039840566, .131517740, -.508223896, .313295972, .103250750}}};
  for (const auto& [t, expected] : rows)
    for (Index c = 0; c < 5; ++c)
      EXPECT_NEAR(static_cast<double>(dz.at({0, t, c})), 2 * expected[static_cast<std::size_t>(c)], 1e-6) << t << c;
}

TEST(CtcLoss, OfLabelsThatDoNotFitIsInfiniteOrNothing) {
  const Var z = Var::leaf(logits(2));
  const Var infinite = loss_of(z, {2, 2});
  EXPECT_EQ(number(infinite), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(backward(infinite).of(z).at({0, 0, 2})));
  const Var nothing = loss_of(z, {2, 2}, CtcImpossible::nothing);
  EXPECT_EQ(number(nothing), 0);
  EXPECT_EQ(backward(nothing).of(z).at({0, 0, 2}), 0);
}

TEST(CtcLoss, OfNoFramesAndNoLabelsIsNothing) { EXPECT_EQ(number(loss_of(Var(Tensor(Shape{1, 0, 5})), {})), 0); }

}  // namespace
}  // namespace heed::test
