#include "heed/kernels/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/kernels/elementwise.h"

namespace heed::kernels {
namespace {

TEST(Dispatch, TargetsAreNamedOnce) {
  const std::vector<std::string> targets = simd_targets();
  ASSERT_FALSE(targets.empty());
  for (const std::string& target : targets) EXPECT_EQ(std::count(targets.begin(), targets.end(), target), 1) << target;
}

TEST(Dispatch, AChosenTargetLeavesTheListAsItWas) {
  const std::vector<std::string> targets = simd_targets();
  for (const std::string& target : targets) {
    use_simd_target(target);
    const Real x[3] = {1, 2, 3};
    Real y[3] = {};
    unary(Unary::square, 3, x, y);
    EXPECT_EQ(y[2], 9) << target;
    use_simd_target("");
    EXPECT_EQ(simd_targets(), targets);
  }
}

TEST(Dispatch, UnknownTargetIsAnError) {
  try {
    use_simd_target("AVX9");
    FAIL() << "AVX9 was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[simd] target AVX9 is not available here");
  }
  const Real x[1] = {-2};
  Real y[1] = {};
  unary(Unary::negate, 1, x, y);  // the kernels still run
  EXPECT_EQ(y[0], 2);
}

}  // namespace
}  // namespace heed::kernels
