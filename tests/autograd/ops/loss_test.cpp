#include "heed/autograd/ops/loss.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/elementwise.h"
#include "support/op_cases.h"

namespace heed::test {
namespace {

// More rows than are made together, the last block not full, every third left out; the loss is but a part of the
// number that is differentiated.
TEST(LinearCrossEntropy, IsThatOfTheLogits) {
  constexpr Index kRows = 700, kIn = 33, kClasses = 41;
  for (const bool flip : {false, true}) {
    SCOPED_TRACE(flip);
    const Shape matrix = flip ? Shape{kClasses, kIn} : Shape{kIn, kClasses};
    const std::vector<Tensor> values = make_inputs({{Shape{kRows, kIn}, matrix, Shape{kClasses}}, {}}, 7);
    Ids targets(Shape{kRows});
    for (Index i = 0; i < kRows; ++i) targets.data()[i] = static_cast<std::int32_t>(i % 3 == 2 ? -1 : i % kClasses);
    const CrossEntropy options{.label_smoothing = 0.1};
    std::vector<Tensor> fused, plain;
    for (std::vector<Tensor>* const result : {&fused, &plain}) {
      const Var x = Var::leaf(values[0]), w = Var::leaf(values[1]), b = Var::leaf(values[2]);
      const Var loss = result == &fused
                           ? linear_cross_entropy(x, w, b, targets, options, {.b = flip})
                           : cross_entropy(linear(x, w, b, Activation::identity, {.b = flip}), targets, options);
      const Gradients gradients = backward(scale(loss, 3));
      *result = {loss.value(), gradients.of(x), gradients.of(w), gradients.of(b)};
    }
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_LE(distance(fused[i], plain[i]), 2e-6) << i;
  }
}

TEST(LinearCrossEntropy, CostsNoGradientWhereNoneIsWanted) {
  const Var x(Tensor(Shape{1, 2}, {1, 2})), w = Var::leaf(Tensor(Shape{2, 2}, {1, 0, 0, 1}));
  const Ids target(Shape{1}, 1);
  const Gradients gradients = backward(linear_cross_entropy(x, w, {}, target));
  EXPECT_NE(gradients.of(w).at({0, 0}), 0);
  const NoGradient off;
  EXPECT_FALSE(linear_cross_entropy(x, w, {}, target).wants_gradient());
}

}  // namespace
}  // namespace heed::test
