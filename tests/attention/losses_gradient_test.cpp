#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/attention/losses.h"
#include "heed/autograd/gradient_check.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/softmax.h"

namespace heed::test {
namespace {

void expect_exact(const Differentiable& f, std::vector<Tensor> inputs) {
  const GradientCheck check = check_gradient(f, std::move(inputs));
  EXPECT_LE(check.worst, 1e-8) << check.where;
}

TEST(LossGradients, AttentionOverAttention) {
  expect_exact(
      [](std::span<const Var> x) {
        return attention_over_attention(x[0], x[1], ids({4, 2}), ids({1, 3})).weights;
      },
      {random_tensor(Shape{2, 4, 3}, 1), random_tensor(Shape{2, 3, 3}, 2)});
}

TEST(LossGradients, CoverageAndPointer) {
  expect_exact([](std::span<const Var> x) { return coverage_loss(softmax(x[0]), square(x[1])); },
               {random_tensor(Shape{2, 4}, 1), random_tensor(Shape{2, 4}, 2)});
  const Ids source(Shape{2, 4}, {1, 5, 1, 0, 4, 4, 0, 2});
  expect_exact(
      [&](std::span<const Var> x) {
        return pointer_distribution(sigmoid(x[0]), softmax(x[1]), softmax(x[2]), source, 6);
      },
      {random_tensor(Shape{2, 1}, 1), random_tensor(Shape{2, 3}, 2), random_tensor(Shape{2, 4}, 3)});
}

TEST(LossGradients, Penalties) {
  expect_exact([](std::span<const Var> x) { return look_entropy(softmax(x[0])); }, {random_tensor(Shape{2, 3, 4}, 1)});
  expect_exact([](std::span<const Var> x) { return row_penalty(softmax(x[0])); }, {random_tensor(Shape{2, 3, 4}, 1)});
  const Mask real(Shape{2, 4}, {true, true, true, true, true, true, false, false});
  expect_exact([&](std::span<const Var> x) { return doubly_stochastic_penalty(softmax(x[0]), real); },
               {random_tensor(Shape{2, 3, 4}, 1)});
  const Tensor gold(Shape{1, 3, 3}, {1, 0, 0, 0, 0, 0, 2, 0, 1});
  expect_exact([&](std::span<const Var> x) { return guided_alignment_loss(softmax(x[0]), gold); },
               {random_tensor(Shape{1, 3, 3}, 1)});
}

}  // namespace
}  // namespace heed::test
