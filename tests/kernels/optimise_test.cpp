#include "heed/kernels/optimise.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/ref/optimise.h"

namespace heed::kernels {
namespace {

// value, gradient and up to three states; squares (states 0 and 1 where they are squares) must not be negative.
struct Arrays {
  Arrays(Index n, Index offset, std::uint64_t seed) : offset_(offset) {
    RandomSequence random(RandomKey{seed, 3});
    for (auto& array : data) {
      array.resize(static_cast<std::size_t>(n + offset));
      for (Real& x : array) x = static_cast<Real>(random.normal());
    }
    for (const std::size_t positive : {2, 3})
      for (Real& x : data[positive]) x = std::abs(x) + Real{2};
    // The mean of a centred RMSProp: m² ≤ s.
    for (Real& x : data[4]) x = std::tanh(x);
  }
  Real* operator[](std::size_t i) { return data[i].data() + offset_; }
  std::array<std::vector<Real>, 6> data;  // value, gradient, state 0, 1, 2, 3

 private:
  Index offset_;
};

constexpr std::size_t kGradient = 1;

struct Kernel {
  const char* name;
  void (*fast)(Index n, const Update& update, const Real* gradient, Arrays& arrays);
  void (*twin)(Index n, const Update& update, const Real* gradient, Arrays& arrays);
};

#define HEED_BOTH(name, call)                                                                         \
  Kernel {                                                                                            \
    name, [](Index n, const Update& u, [[maybe_unused]] const Real* g, Arrays& a) { kernels::call; }, \
        [](Index n, const Update& u, [[maybe_unused]] const Real* g, Arrays& a) { ref::call; }        \
  }

const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> list = {
      HEED_BOTH("sgd", sgd(n, u, g, a[0])),
      HEED_BOTH("momentum", momentum(n, {u, 0.9, false}, g, a[5], a[0])),
      HEED_BOTH("nesterov", momentum(n, {u, 0.9, true}, g, a[5], a[0])),
      HEED_BOTH("adagrad", adagrad(n, {u, 1e-3}, g, a[2], a[0])),
      HEED_BOTH("adadelta", adadelta(n, {u, 0.9, 1e-3}, g, a[2], a[3], a[0])),
      HEED_BOTH("rmsprop", rmsprop(n, {u, 0.9, 1e-3, 0.5}, g, {a[2], nullptr, nullptr}, a[0])),
      HEED_BOTH("rmsprop momentum", rmsprop(n, {u, 0.9, 1e-3, 0.5}, g, {a[2], nullptr, a[5]}, a[0])),
      HEED_BOTH("rmsprop centred", rmsprop(n, {u, 0.9, 1e-3, 0.5}, g, {a[2], a[4], nullptr}, a[0])),
      HEED_BOTH("rmsprop centred momentum", rmsprop(n, {u, 0.9, 1e-3, 0.5}, g, {a[2], a[4], a[5]}, a[0])),
      HEED_BOTH("adam", adam(n, {u, 0.9, 0.98, 1e-3, 0.5, 0.25}, g, a[5], a[2], a[0])),
      HEED_BOTH("average", average(n, u.rate, a[1], a[0])),
  };
  return list;
}

#undef HEED_BOTH

void expect_arrays_close(Arrays& fast, Arrays& twin) {
  // Eight roundings of numbers of size up to about 4.
  const double tolerance = 32 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  for (std::size_t array = 0; array < fast.data.size(); ++array)
    for (std::size_t i = 0; i < fast.data[array].size(); ++i)
      ASSERT_NEAR(fast.data[array][i], twin.data[array][i], tolerance) << "array " << array << " element " << i;
}

TEST(OptimiseKernels, EqualTheirTwinsOnEveryTarget) {
  const Update updates[] = {{0.5, 1, 0, false}, {0.5, 0.25, 0.1, false}, {0.5, 0.25, 0.1, true}};
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    for (const Kernel& kernel : all_kernels())
      for (const Update& update : updates)
        for (const bool zero : {false, true})
          for (const Index offset : {0, 1})
            for (Index n = 0; n <= 35; ++n) {
              SCOPED_TRACE(fmt::format("{} {} n {} offset {} null gradient {}", target, kernel.name, n, offset, zero));
              Arrays fast(n, offset, 5), twin(n, offset, 5);
              kernel.fast(n, update, zero ? nullptr : fast[kGradient], fast);
              kernel.twin(n, update, zero ? nullptr : twin[kGradient], twin);
              expect_arrays_close(fast, twin);
              if (HasFatalFailure()) return use_simd_target("");
            }
  }
  use_simd_target("");
}

TEST(OptimiseKernels, ANullGradientIsExactlyZero) {
  for (const Kernel& kernel : all_kernels()) {
    if (std::string(kernel.name) == "average") continue;
    SCOPED_TRACE(kernel.name);
    Arrays null(37, 0, 9), zeros(37, 0, 9);
    const std::vector<Real> zero(37, 0);
    kernel.fast(37, {0.5, 0.5, 0.1, false}, nullptr, null);
    kernel.fast(37, {0.5, 0.5, 0.1, false}, zero.data(), zeros);
    EXPECT_EQ(null.data, zeros.data);
  }
}

TEST(OptimiseKernels, DoNotDependOnTheThreadCount) {
  const int before = thread_count();
  constexpr Index n = 50'003;
  for (const Kernel& kernel : all_kernels()) {
    SCOPED_TRACE(kernel.name);
    Arrays one(n, 0, 4), three(n, 0, 4);
    set_thread_count(1);
    kernel.fast(n, {0.5, 0.5, 0.1, true}, one[kGradient], one);
    set_thread_count(3);
    kernel.fast(n, {0.5, 0.5, 0.1, true}, three[kGradient], three);
    EXPECT_EQ(one.data, three.data);
  }
  set_thread_count(before);
}

TEST(OptimiseKernels, CentredRmspropDoesNotTakeTheRootOfANegative) {
  // The mean's square is above the mean square: only rounding (or a foreign state) can bring that about.
  Real value = 1, squares = 1, mean = 2;
  const Real gradient = 1;
  rmsprop(1, {{0.5}, 0.5, 0.5, 0}, &gradient, {&squares, &mean, nullptr}, &value);
  EXPECT_EQ(value, Real{0});  // 1 − 0.5 · 1 / (√0 + 0.5)
}

}  // namespace
}  // namespace heed::kernels
