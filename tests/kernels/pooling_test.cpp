#include "heed/kernels/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/ref/pooling.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {
namespace {

constexpr Real kGuard = 12345;

Window pool_window(Index input, Index kernel, Index stride, Index padding) {
  return {input, (input + 2 * padding - kernel) / stride + 1, kernel, stride, 1, padding};
}

// A few distinct values, so that ties are common; one number in front, so that vectors are misaligned.
struct Numbers {
  std::vector<Real> all;
  Numbers(Index size, std::uint64_t seed) : all(static_cast<std::size_t>(size + 2), kGuard) {
    RandomSequence random(RandomKey{seed, 5});
    for (Index i = 0; i < size; ++i) data()[i] = static_cast<Real>(random.below(7)) - 3;
  }
  Real* data() { return all.data() + 1; }
};

void expect_pools_like_reference(const PoolSizes& s) {
  const Index inputs = s.batch * s.height.input * s.width.input * s.channels;
  const Index outputs = s.batch * s.height.output * s.width.output * s.channels;
  Numbers x(inputs, 1), dy(outputs, 2), y(outputs, 3), expected_y(outputs, 3), dx(inputs, 4), expected_dx(inputs, 4);
  const auto compare = [](const Numbers& got, const Numbers& expected, Real tolerance, const char* what) {
    for (std::size_t i = 0; i < got.all.size(); ++i) ASSERT_NEAR(got.all[i], expected.all[i], tolerance) << what;
  };
  max_pool(s, x.data(), y.data());
  ref::max_pool(s, x.data(), expected_y.data());
  compare(y, expected_y, 0, "max");
  max_pool_backward(s, dy.data(), x.data(), y.data(), dx.data());
  ref::max_pool_backward(s, dy.data(), x.data(), y.data(), expected_dx.data());
  compare(dx, expected_dx, 0, "max backward");  // small whole numbers: exact

  const Real rounding = 16 * std::numeric_limits<Real>::epsilon();
  mean_pool(s, x.data(), y.data());
  ref::mean_pool(s, x.data(), expected_y.data());
  compare(y, expected_y, rounding, "mean");
  mean_pool_backward(s, dy.data(), dx.data());
  ref::mean_pool_backward(s, dy.data(), expected_dx.data());
  compare(dx, expected_dx, rounding, "mean backward");
}

TEST(PoolingKernels, AgreeWithTheScalarTwinsOnEveryTarget) {
  const std::pair<Window, Window> windows[] = {
      {{}, pool_window(7, 2, 2, 0)},  // time, the last step left over
      {{}, pool_window(7, 3, 1, 2)},  // overlapping, padded
      {pool_window(5, 2, 2, 1), pool_window(6, 3, 2, 1)},
      {pool_window(4, 4, 4, 3), pool_window(4, 1, 2, 0)},
      {pool_window(1, 1, 1, 0), pool_window(1, 1, 1, 0)},
  };
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    use_simd_target(target);
    for (const auto& [height, width] : windows)
      for (Index channels = 0; channels <= 35; ++channels) expect_pools_like_reference({2, height, width, channels});
    expect_pools_like_reference({0, pool_window(5, 2, 2, 1), pool_window(6, 3, 2, 1), 4});
    use_simd_target("");
  }
}

TEST(PoolingKernels, ANaNWinsTheMaximum) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const PoolSizes sizes{1, {}, pool_window(3, 3, 3, 0), 1};
  for (int at = 0; at < 3; ++at) {
    Real x[3] = {1, 2, 0}, y = 0;
    x[at] = nan;
    max_pool(sizes, x, &y);
    EXPECT_TRUE(std::isnan(y)) << at;
  }
}

TEST(PoolingKernels, DoNotDependOnTheThreadCount) {
  const PoolSizes sizes{6, pool_window(40, 3, 2, 1), pool_window(40, 3, 2, 1), 48};
  const Index inputs = 6 * 40 * 40 * 48, outputs = 6 * 20 * 20 * 48;
  ASSERT_EQ(sizes.height.output, 20);
  const int before = thread_count();
  std::vector<std::vector<Real>> seen[2];
  for (int round = 0; round < 2; ++round) {
    set_thread_count(1 + 2 * round);
    Numbers x(inputs, 1), dy(outputs, 2), y(outputs, 3), dx(inputs, 4);
    max_pool(sizes, x.data(), y.data());
    max_pool_backward(sizes, dy.data(), x.data(), y.data(), dx.data());
    seen[round].push_back(y.all), seen[round].push_back(dx.all);
    mean_pool(sizes, x.data(), y.data());
    mean_pool_backward(sizes, dy.data(), dx.data());
    seen[round].push_back(y.all), seen[round].push_back(dx.all);
  }
  set_thread_count(before);
  EXPECT_EQ(seen[0], seen[1]);
}

}  // namespace
}  // namespace heed::kernels
