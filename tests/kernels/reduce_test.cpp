#include "heed/kernels/ref/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

struct Extents {
  Index outer, axis, inner;
  Index size() const { return outer * axis * inner; }
};

// Rows (inner 1), columns (outer 1) and both, each at every awkward length.
std::vector<Extents> awkward_extents() {
  std::vector<Extents> all;
  for (const Index n : awkward_lengths()) {
    all.push_back({1, n, 1});
    all.push_back({3, n, 1});
    all.push_back({1, 5, n});
    all.push_back({3, 2, n});
  }
  all.push_back({0, 4, 3});
  all.push_back({2, 0, 5});
  all.push_back({1, 0, 70});
  return all;
}

TEST(Reduce, SumMatchesItsTwin) {
  on_every_target([] {
    for (const auto& [outer, axis, inner] : awkward_extents()) {
      for (const Place place : kPlaces) {
        SCOPED_TRACE(testing::Message() << outer << " x " << axis << " x " << inner);
        const Buffer x(uniform_values(outer * axis * inner, 1, 0.5, 1), place);
        const Buffer y(outer * inner, place), want(outer * inner, place);
        sum(outer, axis, inner, x.data(), y.data());
        ref::sum(outer, axis, inner, x.data(), want.data());
        // At most axis roundings, each relative to a partial sum, so to the sum of positive numbers.
        expect_close(y.values(), want.values(), static_cast<double>(axis), [&](Index i) { return want[i]; });
      }
    }
  });
}

TEST(Reduce, LargestMatchesItsTwin) {
  on_every_target([] {
    for (const auto& [outer, axis, inner] : awkward_extents()) {
      if (axis == 0) continue;
      for (const Place place : kPlaces) {
        SCOPED_TRACE(testing::Message() << outer << " x " << axis << " x " << inner);
        std::vector<Real> values = normal_values(outer * axis * inner, 2);
        for (Real& v : values) v = std::round(2 * v);  // ties
        const Buffer x(values, place), dy(normal_values(outer * inner, 3), place);
        const Buffer y(outer * inner, place), y_want(outer * inner, place);
        const Buffer dx(x.size(), place), dx_want(x.size(), place);
        largest(outer, axis, inner, x.data(), y.data());
        ref::largest(outer, axis, inner, x.data(), y_want.data());
        expect_same(y.values(), y_want.values());
        largest_backward(outer, axis, inner, dy.data(), x.data(), y.data(), dx.data());
        ref::largest_backward(outer, axis, inner, dy.data(), x.data(), y.data(), dx_want.data());
        expect_same(dx.values(), dx_want.values());
      }
    }
  });
}

TEST(Reduce, SpreadMatchesItsTwin) {
  for (const auto& [outer, axis, inner] : awkward_extents()) {
    for (const Place place : kPlaces) {
      const Buffer dy(normal_values(outer * inner, 4), place);
      const Buffer dx(outer * axis * inner, place), want(outer * axis * inner, place);
      spread(outer, axis, inner, Real(0.25), dy.data(), dx.data());
      ref::spread(outer, axis, inner, Real(0.25), dy.data(), want.data());
      expect_same(dx.values(), want.values());
    }
  }
}

TEST(Reduce, ANaNAnywhereIsTheLargest) {
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      if (n > 65) continue;
      for (Index at = 0; at < n; ++at) {
        Buffer x(normal_values(n, 5), Place::at_fence), dx(n, Place::misaligned);
        x[at] = kNaN;
        Real y = 0;
        const Real one = 1;
        largest(1, n, 1, x.data(), &y);
        EXPECT_TRUE(std::isnan(y)) << "NaN at " << at << " of " << n;
        largest_backward(1, n, 1, &one, x.data(), &y, dx.data());
        for (Index i = 0; i < n; ++i) EXPECT_EQ(dx[i], i == at ? 1 : 0);
        // The same numbers as columns.
        const Buffer columns(2 * n, Place::at_fence), tops(n, Place::misaligned);
        for (Index i = 0; i < n; ++i) columns[i] = x[i], columns[n + i] = x[n - 1 - i];
        largest(1, 2, n, columns.data(), tops.data());
        for (Index i = 0; i < n; ++i) EXPECT_EQ(std::isnan(tops[i]), i == at || i == n - 1 - at);
      }
    }
  });
}

TEST(Reduce, Infinities) {
  on_every_target([] {
    const std::vector<Real> low(19, -kInfinity);
    Real y = 0;
    largest(1, 19, 1, low.data(), &y);
    EXPECT_EQ(y, -kInfinity);
    sum(1, 19, 1, low.data(), &y);
    EXPECT_EQ(y, -kInfinity);
    std::vector<Real> mixed = low;
    mixed[7] = kInfinity;
    largest(1, 19, 1, mixed.data(), &y);
    EXPECT_EQ(y, kInfinity);
    sum(1, 19, 1, mixed.data(), &y);
    EXPECT_TRUE(std::isnan(y));
  });
}

TEST(Reduce, ThreadsDoNotChangeTheResult) {
  constexpr Extents kExtents[] = {{131, 1009, 1}, {1, 131, 1009}, {7, 131, 149}};
  for (const Extents& e : kExtents) {
    const std::vector<Real> x = normal_values(e.size(), 6), dy = normal_values(e.outer * e.inner, 7);
    on_every_target([&] {
      const auto check = [&](Index size, const auto& body) {
        expect_same_on_any_thread_count([&] {
          std::vector<Real> out(static_cast<std::size_t>(size));
          body(out.data());
          return out;
        });
      };
      check(e.outer * e.inner, [&](Real* y) { sum(e.outer, e.axis, e.inner, x.data(), y); });
      check(e.outer * e.inner, [&](Real* y) { largest(e.outer, e.axis, e.inner, x.data(), y); });
      check(e.size(), [&](Real* dx) { spread(e.outer, e.axis, e.inner, Real(0.3), dy.data(), dx); });
    });
  }
}

}  // namespace
}  // namespace heed::kernels
