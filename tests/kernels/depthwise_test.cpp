#include "heed/kernels/depthwise.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/ref/depthwise.h"

namespace heed::kernels {
namespace {

// One number in front and one behind, which nothing may touch.
struct FencedNumbers {
  std::vector<Real> all;
  FencedNumbers(Index size, std::uint64_t seed) : all(static_cast<std::size_t>(size + 2)) {
    RandomSequence random(RandomKey{seed, 6});
    for (Real& value : all) value = static_cast<Real>(2 * random.uniform() - 1);
  }
  Real* data() { return all.data() + 1; }
};

struct DepthwiseResults {
  FencedNumbers y, dx, dw;
};

template <class Forward, class Input, class Weight>
DepthwiseResults results_of(const DepthwiseSizes& s, const Forward& forward, const Input& input, const Weight& weight) {
  const Index in = s.batch * s.height.input * s.width.input * s.channels,
              out = s.batch * s.height.output * s.width.output * s.channels,
              tap = s.height.kernel * s.width.kernel * s.channels;
  FencedNumbers x(in, 1), w(tap, 2), bias(s.channels, 3), dy(out, 4);
  DepthwiseResults results{FencedNumbers(out, 5), FencedNumbers(in, 6), FencedNumbers(tap, 7)};
  forward(s, x.data(), w.data(), s.batch % 2 ? nullptr : bias.data(), results.y.data());
  input(s, dy.data(), w.data(), results.dx.data());
  weight(s, x.data(), dy.data(), results.dw.data());
  return results;
}
DepthwiseResults results_of(const DepthwiseSizes& s) {
  return results_of(s, depthwise, depthwise_input_gradient, depthwise_weight_gradient);
}

void expect_near(const FencedNumbers& got, const FencedNumbers& expected, Index terms, const char* what) {
  const Real tolerance = std::numeric_limits<Real>::epsilon() * static_cast<Real>(terms + 1);
  for (std::size_t i = 0; i < got.all.size(); ++i) ASSERT_NEAR(got.all[i], expected.all[i], tolerance) << what;
}

TEST(DepthwiseKernels, AgreeWithTheScalarTwinsOnEveryTarget) {
  // input, output, kernel, stride, dilation, before: with padding on one side, on both, with gaps, and unread inputs.
  const std::pair<Window, Window> windows[] = {
      {{5, 5, 3, 1, 1, 1}, {6, 6, 5, 1, 1, 2}},
      {{6, 3, 3, 2, 1, 0}, {7, 4, 5, 2, 1, 2}},
      {{7, 3, 2, 2, 2, 0}, {4, 4, 1, 1, 1, 0}},
  };
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    use_simd_target(target);
    for (const auto& [height, width] : windows)
      for (const Index channels : {0, 1, 3, 8, 17, 33})
        for (const Index batch : {0, 1, 2}) {
          const DepthwiseSizes s{batch, height, width, channels};
          const DepthwiseResults got = results_of(s),
                                 expected = results_of(s, ref::depthwise, ref::depthwise_input_gradient,
                                                       ref::depthwise_weight_gradient);
          const Index taps = height.kernel * width.kernel;
          expect_near(got.y, expected.y, taps, "forward");
          expect_near(got.dx, expected.dx, taps, "input gradient");
          expect_near(got.dw, expected.dw, batch * height.output * width.output, "weight gradient");
        }
    use_simd_target("");
  }
}

TEST(DepthwiseKernels, DoNotDependOnTheThreadCount) {
  const DepthwiseSizes sizes{3, {30, 15, 3, 2, 1, 0}, {30, 15, 3, 2, 1, 0}, 40};
  const int before = thread_count();
  set_thread_count(1);
  const DepthwiseResults one = results_of(sizes);
  set_thread_count(3);
  const DepthwiseResults three = results_of(sizes);
  set_thread_count(before);
  EXPECT_EQ(one.y.all, three.y.all);
  EXPECT_EQ(one.dx.all, three.dx.all);
  EXPECT_EQ(one.dw.all, three.dw.all);
}

}  // namespace
}  // namespace heed::kernels
