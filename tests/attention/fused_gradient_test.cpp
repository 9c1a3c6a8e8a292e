#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/attend.h"
#include "heed/autograd/gradient_check.h"
#include "heed/autograd/ops/shape.h"
#include "support/op_cases.h"

namespace heed::test {
namespace {

const OpExample kExample{{Shape{2, 2, 14, 3}, Shape{2, 2, 19, 3}, Shape{2, 2, 19, 4}}};

template <class... Parts>
void expect_gradient(double tolerance, const Parts&... parts) {
  const GradientCheck check = check_gradient(
      [&](std::span<const Var> x) { return attend(x[0], x[1], x[2], parts...).read; }, make_inputs(kExample, 3));
  EXPECT_LE(check.worst, tolerance) << check.where;
}

FusedOptions small_blocks() {
  FusedOptions options;
  options.key_block = 16;
  return options;
}

// In float, as in the guide, it is in fused_test.cpp: a score rounded to float has no derivative to check in double.
TEST(AttendGradient, TheScoreOfTheGuide) {
  expect_gradient(1e-8, score([](Real s, Index, Index, Index i, Index j) { return s - Real(0.1) * std::abs(i - j); }),
                  mask([](Index, Index, Index i, Index j) { return j <= i; }));
}

TEST(AttendGradient, AScoreOfRealsByDifferences) {
  expect_gradient(1e-8,
                  score([](Real s, Index, Index h, Index, Index) { return 2 * std::tanh(s) + s * s * Real(0.1) * h; }),
                  small_blocks());
}

TEST(AttendGradient, AGenericScoreByDualNumbers) {
  expect_gradient(1e-8, score([](auto s, Index b, Index, Index i, Index j) {
                    return tanh(s) * (s + 1) / (exp(s) + 3) - abs(s - 50) + sqrt(s * s + 1) + log(s * s + 2) * sin(s) -
                           cos(s) * static_cast<Real>(b) + 0.1f * static_cast<Real>(i - j);
                  }),
                  mask([](Index b, Index, Index i, Index j) { return (i + j + b) % 3 != 0 && i % 4 != 2; }),
                  small_blocks());
}

TEST(AttendGradient, DifferencesAreExactForPolynomialsOfDegreeFour) {
  const auto f = [](Real s, Index, Index, Index, Index) { return ((s * s - 3) * s + 1) * s; };
  const auto g = [](auto s, Index, Index, Index, Index) { return ((s * s - 3) * s + 1) * s; };
  for (const Real s : {-2.0, -0.3, 0.0, 0.7, 3.0})
    EXPECT_NEAR(detail::score_slope(f, s, 0, 0, 0, 0), detail::score_slope(g, s, 0, 0, 0, 0), 1e-10) << s;
}

// The heads as a view of [B, n, H, d], on both sides of the op.
TEST(AttendGradient, HeadsInside) {
  const OpExample example{{Shape{2, 5, 3, 2}, Shape{2, 18, 3, 2}, Shape{2, 18, 3, 4}}};
  const GradientCheck check = check_gradient(
      [&](std::span<const Var> x) {
        return transpose(attend(transpose(x[0], 1, 2), transpose(x[1], 1, 2), transpose(x[2], 1, 2)).read, 1, 2);
      },
      make_inputs(example, 3));
  EXPECT_LE(check.worst, 1e-8) << check.where;
}

}  // namespace
}  // namespace heed::test
