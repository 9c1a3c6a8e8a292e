#include "heed/kernels/screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/ref/screen.h"
#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

// Numbers, what is known of them, and how far that may be off.
struct KnownNumbers {
  std::vector<Real> about, errors, norms, low, high;

  explicit KnownNumbers(Index n) : about(normal_values(n, 1)), errors(normal_values(n, 2)), norms(normal_values(n, 3)) {
    for (std::vector<Real>* list : {&errors, &norms})
      for (Real& each : *list) each = std::abs(each) / 16;
    low = normal_values(n, 4), high = low;
    for (Real& each : low) each -= Real(0.01);
    for (Real& each : high) each += Real(0.01);
  }
  Margins margins() const { return {errors.data(), norms.data(), low.data(), high.data()}; }
  bool mark(decltype(mark_possible_largest)* by, std::vector<std::uint8_t>& marks) const {
    marks.assign(about.size(), 0);
    return by(static_cast<Index>(about.size()), about.data(), margins(), Real(1.5), Real(0.5), marks.data());
  }
};

TEST(Screen, MarksWhatItsTwinMarks) {
  on_every_target([] {
    for (const Index n : {1, 3, 8, 15, 16, 17, 31, 200}) {
      const KnownNumbers known(n);
      std::vector<std::uint8_t> marks, expected;
      EXPECT_TRUE(known.mark(mark_possible_largest, marks));
      EXPECT_TRUE(known.mark(ref::mark_possible_largest, expected));
      EXPECT_EQ(marks, expected) << n;
      const auto left = std::count(marks.begin(), marks.end(), 1);
      EXPECT_GE(left, 1);
      EXPECT_LT(left, n == 200 ? 100 : n + 1);  // it rules words out
    }
  });
}

// Whatever the numbers are within their margins, the largest is marked.
TEST(Screen, TheLargestIsAmongThoseLeft) {
  constexpr Index n = 57;
  const KnownNumbers known(n);
  std::vector<std::uint8_t> marks;
  ASSERT_TRUE(known.mark(mark_possible_largest, marks));
  for (std::uint64_t seed = 10; seed < 200; ++seed) {
    const std::vector<Real> shares = normal_values(n, seed);
    std::vector<double> numbers;
    for (std::size_t j = 0; j < shares.size(); ++j) {
      const double margin = 1.5 * static_cast<double>(known.errors[j]) + 0.5 * static_cast<double>(known.norms[j]);
      numbers.push_back(static_cast<double>(known.about[j]) + static_cast<double>(known.low[j] + known.high[j]) / 2 +
                        margin * std::clamp(static_cast<double>(shares[j]), -1.0, 1.0) * 0.999);
    }
    const auto largest = std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
    EXPECT_EQ(marks[static_cast<std::size_t>(largest)], 1) << seed;
  }
}

TEST(Screen, NumbersThatAreNotFiniteTellNothing) {
  on_every_target([] {
    for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()})
      for (const std::size_t at : {std::size_t{0}, std::size_t{20}, std::size_t{32}}) {
        KnownNumbers known(33);
        known.about[at] = bad;
        std::vector<std::uint8_t> marks;
        EXPECT_FALSE(known.mark(mark_possible_largest, marks));
        EXPECT_FALSE(known.mark(ref::mark_possible_largest, marks));
        EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), 0);
      }
  });
}

}  // namespace
}  // namespace heed::kernels
