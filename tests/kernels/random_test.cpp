#include "heed/kernels/ref/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

constexpr RandomKey kKey{0x0123456789abcdefULL, 0xfedcba9876543210ULL};

TEST(Dropout, MatchesItsTwin) {
  on_every_target([] {
    for (const Real rate : {Real{0}, Real(0.1), Real(0.5), Real(0.999)}) {
      for (const Index n : awkward_lengths()) {
        for (const Place place : kPlaces) {
          const Buffer x(normal_values(n, 1), place), y(n, place), want(n, place);
          dropout(n, rate, kKey, x.data(), y.data());
          ref::dropout(0, n, rate, kKey, x.data(), want.data());
          expect_same(y.values(), want.values());
          dropout(n, rate, kKey, x.data(), x.data());
          expect_same(x.values(), want.values());
        }
      }
    }
  });
}

// With n draws the kept fraction has a standard deviation of √(p (1 - p) / n).
TEST(Dropout, KeepsTheFractionAskedFor) {
  constexpr Index n = 1 << 18;
  const std::vector<Real> ones(n, 1);
  std::vector<Real> y(n);
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    dropout(n, static_cast<Real>(rate), kKey, ones.data(), y.data());
    const auto kept = static_cast<double>(n - std::count(y.begin(), y.end(), Real{0}));
    EXPECT_NEAR(kept / n, 1 - rate, 5 * std::sqrt(rate * (1 - rate) / n));
    for (const Real v : y)
      ASSERT_TRUE(v == 0 || ulps(v, 1 / (1 - static_cast<double>(static_cast<Real>(rate)))) <= 0.5);
  }
}

TEST(Dropout, KeysGiveIndependentMasks) {
  constexpr Index n = 1 << 16;
  const std::vector<Real> ones(n, 1);
  std::vector<Real> a(n), b(n);
  dropout(n, Real(0.5), kKey.derive(1), ones.data(), a.data());
  dropout(n, Real(0.5), kKey.derive(2), ones.data(), b.data());
  int equal = 0;
  for (std::size_t i = 0; i < n; ++i) equal += a[i] == b[i];
  EXPECT_NEAR(equal, n / 2, 5 * std::sqrt(n / 4.0));
}

TEST(Dropout, ADroppedNaNIsGoneAndAKeptOneStays) {
  on_every_target([] {
    const std::vector<Real> x(256, std::numeric_limits<Real>::quiet_NaN()), ones(256, 1);
    std::vector<Real> y(256), kept(256);
    dropout(256, Real(0.5), kKey, x.data(), y.data());
    dropout(256, Real(0.5), kKey, ones.data(), kept.data());
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(std::isnan(y[i]), kept[i] != 0);
  });
}

TEST(Dropout, ThreadsDoNotChangeTheResult) {
  constexpr Index n = 131 * 1009;
  const std::vector<Real> x = normal_values(n, 2);
  on_every_target([&] {
    expect_same_on_any_thread_count([&] {
      std::vector<Real> y(n);
      dropout(n, Real(0.3), kKey, x.data(), y.data());
      return y;
    });
  });
}

}  // namespace
}  // namespace heed::kernels
