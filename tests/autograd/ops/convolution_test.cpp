#include "heed/autograd/ops/convolution.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "heed/autograd/ops/pooling.h"
#include "heed/base/random.h"
#include "support/messages.h"

namespace heed {
namespace {

Tensor normal(const Shape& shape, std::uint64_t seed) {
  Tensor result(shape);
  RandomSequence random(RandomKey{seed, 9});
  for (Real& value : result.values()) value = static_cast<Real>(random.normal());
  return result;
}

testing::AssertionResult says(const std::string& error, const std::string& words) {
  if (error.find(words) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << error << "\" does not say \"" << words << "\"";
}

// The positions of axis 1 whose numbers are not bit-identical.
std::vector<Index> changed_steps(const Tensor& a, const Tensor& b) {
  std::vector<Index> steps;
  for (Index t = 0; t < a.size(1); ++t) {
    const Tensor left = a.slice(1, t, t + 1).copy(), right = b.slice(1, t, t + 1).copy();
    if (std::memcmp(left.data(), right.data(), static_cast<std::size_t>(left.size()) * sizeof(Real)) != 0)
      steps.push_back(t);
  }
  return steps;
}

Tensor with_step_changed(const Tensor& x, Index step) {
  Tensor changed = x.copy();
  for (Index b = 0; b < x.size(0); ++b)
    for (Index c = 0; c < x.size(2); ++c) changed.data()[(b * x.size(1) + step) * x.size(2) + c] += 1;
  return changed;
}

RC_GTEST_PROP(Conv1d, CausalOutputsSeeOnlyThePast, ()) {
  const Index time = *rc::gen::inRange<Index>(1, 20), kernel = *rc::gen::inRange<Index>(1, 6),
              dilation = *rc::gen::inRange<Index>(1, 5), step = *rc::gen::inRange<Index>(0, time);
  const Convolution1d options{.stride = 1, .dilation = dilation, .padding = Padding::causal};
  const Tensor x = normal({2, time, 3}, 1), weight = normal({kernel, 3, 5}, 2);
  const Tensor before = conv1d(x, weight, {}, options).value();
  const Tensor after = conv1d(with_step_changed(x, step), weight, {}, options).value();
  RC_ASSERT(before.size(1) == time);
  std::vector<Index> expected;
  for (Index t = step; t < time && (t - step) / dilation < kernel; t += dilation) expected.push_back(t);
  RC_ASSERT(changed_steps(before, after) == expected);
}

RC_GTEST_PROP(Conv1d, SamePaddingKeepsTheLength, ()) {
  const Index time = *rc::gen::inRange<Index>(1, 20), kernel = *rc::gen::inRange<Index>(1, 8),
              dilation = *rc::gen::inRange<Index>(1, 4), stride = *rc::gen::inRange<Index>(1, 4);
  const Tensor x = normal({2, time, 3}, 1), weight = normal({kernel, 3, 5}, 2);
  RC_ASSERT(conv1d(x, weight, {}, {1, dilation, Padding::same}).shape() == (Shape{2, time, 5}));
  const Tensor strided = conv1d(x, weight, {}, {stride, dilation, Padding::same}).value();
  RC_ASSERT(strided.shape() == (Shape{2, (time + stride - 1) / stride, 5}));
}

RC_GTEST_PROP(Conv1d, AStrideKeepsEveryNthOutput, ()) {
  const Index stride = *rc::gen::inRange<Index>(1, 5);
  const auto padding = *rc::gen::element(Padding::none, Padding::same, Padding::causal);
  const Tensor x = normal({2, 13, 3}, 1), weight = normal({4, 3, 5}, 2), bias = normal({5}, 3);
  const Tensor all = conv1d(x, weight, bias, {1, 1, padding}).value();
  const Tensor some = conv1d(x, weight, bias, {stride, 1, padding}).value();
  RC_ASSERT(some.size(1) == (all.size(1) + stride - 1) / stride);
  for (Index t = 0; t < some.size(1); ++t)
    for (Index c = 0; c < 5; ++c) RC_ASSERT(std::abs(some.at({1, t, c}) - all.at({1, t * stride, c})) < 1e-5f);
}

// L layers of kernel k see 1 + L (k - 1) inputs.
TEST(Conv1d, ReceptiveFieldGrowsWithDepth) {
  const Index time = 31, middle = 15;
  for (const Index kernel : {1, 3, 5})
    for (const Index layers : {1, 2, 3}) {
      const Tensor x = normal({1, time, 2}, 1);
      const auto stack = [&](const Tensor& input) {
        Var y = input;
        for (Index layer = 0; layer < layers; ++layer)
          y = conv1d(y, normal({kernel, 2, 2}, static_cast<std::uint64_t>(10 + layer)), {}, {1, 1, Padding::same});
        return y.value();
      };
      const std::vector<Index> changed = changed_steps(stack(x), stack(with_step_changed(x, middle)));
      ASSERT_EQ(static_cast<Index>(changed.size()), 1 + layers * (kernel - 1));
      EXPECT_EQ(changed.front(), middle - layers * (kernel - 1) / 2);
    }
}

TEST(Conv1d, AnEvenKernelLooksOneFurtherAhead) {
  const Tensor x(Shape{1, 3, 1}, {1, 10, 100}), weight(Shape{2, 1, 1}, {1, 2});
  const Tensor y = conv1d(x, weight, {}, {1, 1, Padding::same}).value();
  EXPECT_EQ(y.at({0, 0, 0}), 21);
  EXPECT_EQ(y.at({0, 1, 0}), 210);
  EXPECT_EQ(y.at({0, 2, 0}), 100);  // the zero stands behind
}

TEST(Conv1d, TakesViewsAndBias) {
  const Tensor x = normal({2, 3, 6}, 1), weight = normal({2, 3, 4}, 2), bias = normal({4}, 3);
  const Tensor view = x.transpose(1, 2);  // [2, 6, 3]
  const Tensor from_view = conv1d(view, weight, bias).value(), from_copy = conv1d(view.copy(), weight, bias).value();
  EXPECT_TRUE(changed_steps(from_view, from_copy).empty());
  const Tensor unbiased = conv1d(view, weight).value();
  EXPECT_NEAR(from_view.at({1, 2, 3}) - unbiased.at({1, 2, 3}), bias.at({3}), 1e-5);
}

TEST(Conv2d, OneRowIsConv1d) {
  const Tensor x = normal({2, 9, 3}, 1), weight = normal({3, 3, 5}, 2), bias = normal({5}, 3);
  const Tensor line = conv1d(x, weight, bias, {2, 1, Padding::same}).value();
  const Tensor image = conv2d(x.reshape({2, 1, 9, 3}), weight.reshape({1, 3, 3, 5}), bias,
                              {.stride = {1, 2}, .dilation = {1, 1}, .padding = {0, 1}})
                           .value();
  ASSERT_EQ(image.shape(), (Shape{2, 1, 5, 5}));
  for (Index i = 0; i < line.size(); ++i) EXPECT_NEAR(line.data()[i], image.data()[i], 1e-5);
}

TEST(Convolutions, AnEmptyBatchGivesAnEmptyResultAndZeroGradients) {
  const Var line_weight = Var::leaf(normal({3, 2, 4}, 1)), image_weight = Var::leaf(normal({3, 3, 2, 4}, 2));
  const Var bias = Var::leaf(normal({4}, 3));
  const Var line = conv1d(Tensor(Shape{0, 7, 2}), line_weight, bias);
  const Var image = conv2d(Tensor(Shape{0, 7, 5, 2}), image_weight, bias);
  ASSERT_EQ(line.shape(), (Shape{0, 5, 4}));
  ASSERT_EQ(image.shape(), (Shape{0, 5, 3, 4}));
  Gradients gradients;
  backward(line, Tensor(line.shape()), gradients);
  backward(image, Tensor(image.shape()), gradients);
  for (const Var& leaf : {line_weight, image_weight, bias}) {
    ASSERT_NE(gradients.find(leaf), nullptr);
    for (const Real value : gradients.of(leaf).values()) EXPECT_EQ(value, 0);
  }
}

TEST(Convolutions, AskTheSystemForNothingAfterTheFirstCalls) {
  const Var line = Var::leaf(normal({4, 20, 16}, 1)), image = Var::leaf(normal({2, 9, 9, 8}, 2));
  const Var line_weight = Var::leaf(normal({3, 16, 24}, 3)), image_weight = Var::leaf(normal({3, 3, 8, 16}, 4));
  const auto step = [&] {
    const Var y = conv1d(line, line_weight, {}, {1, 1, Padding::causal}), z = max_pool2d(conv2d(image, image_weight));
    Gradients gradients;
    backward(y, Tensor(y.shape(), Real{1}), gradients);
    backward(z, Tensor(z.shape(), Real{1}), gradients);
  };
  step(), step();
  const auto before = memory::statistics().system_allocations;
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(memory::statistics().system_allocations, before);
}

TEST(Convolutions, BadInputIsAnErrorWithTheNumbers) {
  const Tensor x(Shape{2, 5, 3}, Real{0}), weight(Shape{3, 3, 4}, Real{0});
  const auto line = [&](const Tensor& input, const Tensor& w, const Tensor& bias, const Convolution1d& options) {
    return test::message_of([&] { conv1d(input, w, bias, options); });
  };
  EXPECT_TRUE(says(line(Tensor(Shape{5, 3}), weight, {}, {}),
                   "[conv1d] the input must be [batch, time, in], not of shape [5, 3]"));
  EXPECT_TRUE(
      says(line(x, Tensor(Shape{3, 4}), {}, {}), "[conv1d] the weight must be [kernel, in, out], not of shape [3, 4]"));
  EXPECT_TRUE(says(line(x, Tensor(Shape{3, 2, 4}), {}, {}),
                   "[conv1d] the input [2, 5, 3] has 3 channels, the weight [3, 2, 4] takes 2"));
  EXPECT_TRUE(says(line(x, weight, Tensor(Shape{3}), {}), "[conv1d] the bias must be of shape [4], not [3]"));
  EXPECT_TRUE(says(line(x, weight, {}, {.stride = 0}), "[conv1d] the stride over time must be at least 1, not 0"));
  EXPECT_TRUE(says(line(x, weight, {}, {.stride = 1, .dilation = -2}),
                   "[conv1d] the dilation over time must be at least 1, not -2"));
  EXPECT_TRUE(says(line(x, weight, {}, {.stride = Index{1} << 40}), "must be at most 2147483647"));
  EXPECT_TRUE(says(line(x, weight, {}, {.stride = 1, .dilation = Index{1} << 62, .padding = Padding::causal}),
                   "[conv1d] a kernel of 3 with dilation 4611686018427387904 reaches too far"));
  EXPECT_TRUE(says(line(x, Tensor(Shape{0, 3, 4}), {}, {}), "[conv1d] the kernel over time must be at least 1, not 0"));
  EXPECT_TRUE(says(line(x, weight, {}, {.stride = 1, .dilation = 3}),
                   "[conv1d] the kernel spans 7 positions over time, the padded input has 5"));
  EXPECT_TRUE(says(line(Tensor(Shape{2, 0, 3}), weight, {}, {1, 1, Padding::same}),
                   "[conv1d] the kernel spans 3 positions over time, the padded input has 2"));

  const Tensor image(Shape{2, 4, 5, 3}, Real{0}), kernel(Shape{3, 3, 3, 4}, Real{0});
  const auto plane = [&](const Tensor& input, const Tensor& w, const Convolution2d& options) {
    return test::message_of([&] { conv2d(input, w, {}, options); });
  };
  EXPECT_TRUE(says(plane(x, kernel, {}), "[conv2d] the input must be [batch, height, width, in], not of shape"));
  EXPECT_TRUE(says(plane(image, weight, {}), "[conv2d] the weight must be [kernel height, kernel width, in, out]"));
  EXPECT_TRUE(says(plane(image, Tensor(Shape{3, 3, 5, 4}), {}), "has 3 channels, the weight [3, 3, 5, 4] takes 5"));
  EXPECT_TRUE(
      says(plane(image, kernel, {.stride = {1, 0}}), "[conv2d] the stride over width must be at least 1, not 0"));
  EXPECT_TRUE(says(plane(image, kernel, {.stride = {1, 1}, .dilation = {0, 1}}),
                   "[conv2d] the dilation over height must be at least 1, not 0"));
  EXPECT_TRUE(says(plane(image, kernel, {.stride = {1, 1}, .dilation = {1, 1}, .padding = {0, -1}}),
                   "[conv2d] the padding over width must be at least 0, not -1"));
  EXPECT_TRUE(says(plane(image, kernel, {.stride = {1, 1}, .dilation = {2, 1}}),
                   "[conv2d] the kernel spans 5 positions over height, the padded input has 4"));
}

TEST(Pooling, PaddingNeitherWinsNorCounts) {
  const Tensor x(Shape{1, 4, 1}, {-1, -2, -3, -5});
  const Pooling1d options{.window = 3, .stride = 2, .padding = 1};  // {., -1, -2}, {-2, -3, -5}
  const Tensor largest = max_pool1d(x, options).value(), mean = mean_pool1d(x, options).value();
  ASSERT_EQ(largest.shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(largest.at({0, 0, 0}), -1);
  EXPECT_EQ(largest.at({0, 1, 0}), -2);
  EXPECT_FLOAT_EQ(mean.at({0, 0, 0}), Real(-1.5));
  EXPECT_FLOAT_EQ(mean.at({0, 1, 0}), Real(-10) / 3);

  const Pooling2d corners{.window = {2, 2}, .stride = HeightWidth{2, 2}, .padding = {1, 1}};
  const Tensor ones(Shape{1, 3, 3, 2}, Real{-1});
  for (const Tensor& y : {max_pool2d(ones, corners).value(), mean_pool2d(ones, corners).value()}) {
    ASSERT_EQ(y.shape(), (Shape{1, 2, 2, 2}));
    for (const Real value : y.values()) EXPECT_EQ(value, -1);
  }
}

TEST(Pooling, TheFirstOfEqualsGetsTheGradient) {
  const Var x = Var::leaf(Tensor(Shape{1, 4, 1}, {7, 7, 7, 2}));
  Gradients gradients;
  backward(max_pool1d(x), Tensor(Shape{1, 2, 1}, {3, 4}), gradients);
  const Tensor dx = gradients.of(x);
  EXPECT_EQ(std::vector<Real>(dx.values().begin(), dx.values().end()), (std::vector<Real>{3, 0, 4, 0}));
}

TEST(Pooling, BadInputIsAnErrorWithTheNumbers) {
  const Tensor x(Shape{2, 5, 3}, Real{0}), image(Shape{2, 4, 5, 3}, Real{0});
  EXPECT_TRUE(says(test::message_of([&] { max_pool1d(image); }),
                   "[max_pool1d] the input must be [batch, time, channels], not of shape [2, 4, 5, 3]"));
  EXPECT_TRUE(says(test::message_of([&] { mean_pool2d(x); }),
                   "[mean_pool2d] the input must be [batch, height, width, channels], not of shape [2, 5, 3]"));
  EXPECT_TRUE(says(test::message_of([&] { mean_pool1d(x, {.window = 0}); }),
                   "[mean_pool1d] the window over time must be at least 1, not 0"));
  EXPECT_TRUE(says(test::message_of([&] { max_pool1d(x, {.window = 2, .stride = 0}); }),
                   "[max_pool1d] the stride over time must be at least 1, not 0"));
  EXPECT_TRUE(says(test::message_of([&] { max_pool1d(x, {.window = 6}); }),
                   "[max_pool1d] the window spans 6 positions over time, the padded input has 5"));
  EXPECT_TRUE(says(test::message_of([&] { mean_pool1d(x, {.window = 2, .stride = 1, .padding = 2}); }),
                   "[mean_pool1d] the padding over time must be smaller than the window: 2 and 2"));
  EXPECT_TRUE(says(test::message_of([&] {
                     max_pool1d(Tensor(Shape{2, 0, 3}), {.window = 2, .stride = 1, .padding = 1});
                   }),
                   "[max_pool1d] there is nothing to pool over time in an empty input"));
  EXPECT_TRUE(says(test::message_of([&] {
                     max_pool2d(image, {.window = {2, 6}});
                   }),
                   "[max_pool2d] the window spans 6 positions over width, the padded input has 5"));
}

}  // namespace
}  // namespace heed
