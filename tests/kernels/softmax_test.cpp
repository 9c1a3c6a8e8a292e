#include "heed/kernels/ref/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "heed/base/random.h"
#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

constexpr Real kLowest = std::numeric_limits<Real>::lowest();

// Three rows, one of them masked out altogether, one by halves, one with a -infinity in it.
struct Rows {
  static constexpr Index rows = 3;
  Index n;
  Buffer x;
  Guarded<bool> allowed;

  Rows(Index size, Place place, double spread)
      : n(size), x(normal_values(rows * size, 1, spread), place), allowed(rows * size, place) {
    RandomSequence random(RandomKey{2});
    for (Index i = 0; i < rows * n; ++i) allowed[i] = i / n != 1 && (i / n == 2 || random.below(2) == 1);
    if (n > 2) x[2 * n + 1] = -kInfinity;
  }
  // Without a mask; a row each; one row for all.
  std::vector<RowMask> masks() const { return {{}, {allowed.data(), n}, {allowed.data(), 0}}; }
  bool takes_part(RowMask mask, Index i) const { return !mask.data || mask.data[i / n * mask.row_stride + i % n]; }
};

template <class Body>
void for_rows(double spread, const Body& body) {
  on_every_target([&] {
    for (const Index n : awkward_lengths()) {
      for (const Place place : kPlaces) {
        const Rows rows(n, place, spread);
        for (const RowMask mask : rows.masks()) {
          SCOPED_TRACE(testing::Message() << "length " << n << ", mask stride " << (mask.data ? mask.row_stride : -1));
          body(rows, mask, place);
        }
      }
    }
  });
}

TEST(Softmax, MatchesItsTwin) {
  for (const double spread : {1.0, 10.0}) {
    for_rows(spread, [&](const Rows& in, RowMask mask, Place place) {
      const Buffer y(in.x.size(), place), want(in.x.size(), place);
      softmax(Rows::rows, in.n, in.x.data(), mask, y.data());
      ref::softmax(Rows::rows, in.n, in.x.data(), mask, want.data());
      // As stated, with log(largest y / y) for max - x, and 4 lanes; denormal results have a floor.
      expect_close(y.values(), want.values(), 1, [&](Index i) {
        const Real* row = want.data() + i / in.n * in.n;
        const double p = std::max(want[i], std::numeric_limits<Real>::min());
        const double top = std::max<double>(*std::max_element(row, row + in.n), p);
        return p * (16 + std::log(top / p) + static_cast<double>(in.n) / 4);
      });
      const Buffer over(in.x.values(), place);
      softmax(Rows::rows, in.n, over.data(), mask, over.data());
      expect_same(over.values(), y.values());
    });
  }
}

TEST(Softmax, BackwardMatchesItsTwin) {
  for_rows(3, [](const Rows& in, RowMask mask, Place place) {
    const Buffer y(in.x.size(), place), dy(normal_values(in.x.size(), 3), place), dx(in.x.size(), place),
        want(in.x.size(), place);
    ref::softmax(Rows::rows, in.n, in.x.data(), mask, y.data());
    softmax_backward(Rows::rows, in.n, dy.data(), y.data(), dx.data());
    ref::softmax_backward(Rows::rows, in.n, dy.data(), y.data(), want.data());
    // Σ dy ∘ y is at most the largest |dy|, here below 5.
    expect_close(dx.values(), want.values(), 4 + static_cast<double>(in.n) / 4, [&](Index i) { return 10 * y[i]; });
    softmax_backward(Rows::rows, in.n, dy.data(), y.data(), dy.data());
    expect_same(dy.values(), dx.values());
  });
}

TEST(LogSoftmax, MatchesItsTwin) {
  for_rows(3, [](const Rows& in, RowMask mask, Place place) {
    const Buffer y(in.x.size(), place), want(in.x.size(), place);
    log_softmax(Rows::rows, in.n, in.x.data(), mask, y.data());
    ref::log_softmax(Rows::rows, in.n, in.x.data(), mask, want.data());
    expect_close(y.values(), want.values(), 8 + static_cast<double>(in.n),
                 [&](Index i) { return want[i] == kLowest ? 0 : 1 + std::abs(in.x[i]) + std::abs(want[i]); });
    const Buffer over(in.x.values(), place);
    log_softmax(Rows::rows, in.n, over.data(), mask, over.data());
    expect_same(over.values(), y.values());
  });
}

TEST(LogSoftmax, BackwardMatchesItsTwin) {
  for_rows(3, [](const Rows& in, RowMask mask, Place place) {
    const Buffer y(in.x.size(), place), dy(normal_values(in.x.size(), 4), place), dx(in.x.size(), place),
        want(in.x.size(), place);
    ref::log_softmax(Rows::rows, in.n, in.x.data(), mask, y.data());
    log_softmax_backward(Rows::rows, in.n, dy.data(), y.data(), mask, dx.data());
    ref::log_softmax_backward(Rows::rows, in.n, dy.data(), y.data(), mask, want.data());
    // Σ dy adds n numbers, here below 5, in at most n / 4 roundings of a partial sum.
    const auto n = static_cast<double>(in.n);
    expect_close(dx.values(), want.values(), 8 + n / 4,
                 [&](Index i) { return in.takes_part(mask, i) ? std::abs(dy[i]) + std::exp(y[i]) * n : 0; });
    log_softmax_backward(Rows::rows, in.n, dy.data(), y.data(), mask, dy.data());
    expect_same(dy.values(), dx.values());
  });
}

// What the header says of NaN and infinities, at every position of short and long rows.
TEST(LogSumExp, IsWhatLogSoftmaxTakesOff) {
  for_rows(10.0, [](const Rows& in, RowMask mask, Place place) {
    if (mask.data) return;
    const Buffer y(in.x.size(), place);
    log_softmax(Rows::rows, in.n, in.x.data(), {}, y.data());
    for (Index row = 0; row < Rows::rows; ++row) {
      const Real taken = log_sum_exp(in.n, in.x.data() + row * in.n);
      for (Index i = row * in.n; i < (row + 1) * in.n; ++i)
        EXPECT_TRUE(!std::isfinite(in.x[i]) || in.x[i] - taken == y[i]) << i;
    }
  });
}

TEST(LogSumExp, OfRowsThatAreNotFinite) {
  on_every_target([] {
    for (const Index n : {1, 5, 40}) {
      std::vector<Real> x(static_cast<std::size_t>(n), -kInfinity);
      EXPECT_EQ(log_sum_exp(n, x.data()), -kInfinity);
      x.back() = 3;
      EXPECT_EQ(log_sum_exp(n, x.data()), 3);
      for (const Real bad : {kNaN, kInfinity}) {
        x.front() = bad;
        EXPECT_TRUE(std::isnan(log_sum_exp(n, x.data()))) << bad;
      }
    }
  });
}

TEST(LargestPlace, IsTheFirstOfTheLargest) {
  on_every_target([] {
    for (const Index n : {1, 7, 16, 33, 100}) {
      std::vector<Real> x = normal_values(n, 3);
      for (const Index place : {Index{0}, n / 2, n - 1}) {
        std::vector<Real> y = x;
        y[static_cast<std::size_t>(place)] = y.back() = 9;
        EXPECT_EQ(largest_place(n, y.data()), place) << n;
        for (const Real bad : {kInfinity, kNaN}) {
          y[static_cast<std::size_t>(place)] = bad;
          EXPECT_EQ(largest_place(n, y.data()), -1) << n;
        }
      }
      x.assign(x.size(), -kInfinity);
      EXPECT_EQ(largest_place(n, x.data()), -1) << n;
      x.back() = -5;
      EXPECT_EQ(largest_place(n, x.data()), n - 1) << n;
    }
  });
  EXPECT_EQ(largest_place(0, nullptr), -1);
}

TEST(Softmax, NotFiniteRows) {
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      if (n < 2 || n > 65) continue;
      for (Index at = 0; at < n; ++at) {
        SCOPED_TRACE(testing::Message() << "position " << at << " of " << n);
        const auto allowed = std::make_unique<bool[]>(static_cast<std::size_t>(n));
        for (Index i = 0; i < n; ++i) allowed[static_cast<std::size_t>(i)] = i != at;
        const RowMask all_but_one{allowed.get(), 0};
        std::vector<Real> y(static_cast<std::size_t>(n)), log_y(y.size()), want(y.size());
        for (const Real other : {Real{1}, -kInfinity}) {
          for (const Real bad : {kNaN, kInfinity}) {
            std::vector<Real> x(y.size(), other);
            x[static_cast<std::size_t>(at)] = bad;
            softmax(1, n, x.data(), {}, y.data());
            log_softmax(1, n, x.data(), {}, log_y.data());
            for (std::size_t i = 0; i < y.size(); ++i) {
              EXPECT_TRUE(std::isnan(y[i]));
              if (x[i] == -kInfinity) {
                EXPECT_EQ(log_y[i], kLowest);
              } else {
                EXPECT_TRUE(std::isnan(log_y[i]));
              }
            }
            // Where it does not take part it does not matter.
            softmax(1, n, x.data(), all_but_one, y.data());
            ref::softmax(1, n, x.data(), all_but_one, want.data());
            expect_ulps(y, want, 2);
            EXPECT_EQ(y[static_cast<std::size_t>(at)], 0);
          }
        }
        // All but one -infinity: it gets everything.
        std::vector<Real> x(y.size(), -kInfinity);
        x[static_cast<std::size_t>(at)] = 3;
        softmax(1, n, x.data(), {}, y.data());
        for (Index i = 0; i < n; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], i == at ? 1 : 0);
        log_softmax(1, n, x.data(), {}, y.data());
        for (Index i = 0; i < n; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], i == at ? 0 : kLowest);
        // That one masked too: nothing is left.
        softmax(1, n, x.data(), all_but_one, y.data());
        log_softmax(1, n, x.data(), all_but_one, log_y.data());
        for (std::size_t i = 0; i < y.size(); ++i) {
          EXPECT_EQ(y[i], 0);
          EXPECT_EQ(log_y[i], 0);
        }
        // Nor without a mask, and nothing flows back.
        x[static_cast<std::size_t>(at)] = -kInfinity;
        log_softmax(1, n, x.data(), {}, log_y.data());
        const std::vector<Real> dy(y.size(), Real{2}), none(y.size(), Real{0});
        expect_same(log_y, none);
        log_softmax_backward(1, n, dy.data(), log_y.data(), {}, y.data());
        expect_same(y, none);
        ref::log_softmax_backward(1, n, dy.data(), log_y.data(), {}, want.data());
        expect_same(want, none);
      }
    }
  });
}

TEST(Softmax, VeryLargeAndVerySmallInputs) {
  on_every_target([] {
    const std::vector<Real> x = {kLowest, std::numeric_limits<Real>::max(), 0, std::numeric_limits<Real>::denorm_min()};
    std::vector<Real> y(4);
    softmax(1, 4, x.data(), {}, y.data());
    expect_same(y, std::vector<Real>{0, 1, 0, 0});
    const std::vector<Real> same(37, Real(1e30));
    y.resize(37);
    softmax(1, 37, same.data(), {}, y.data());
    for (const Real v : y) EXPECT_LE(ulps(v, 1.0 / 37), 1);
  });
}

struct Logits {
  static constexpr Index rows = 4;
  Buffer x, log_sum, loss, factor, dx;
  Guarded<std::int32_t> targets;

  Logits(Index n, Place place)
      : x(normal_values(rows * n, 5, 3), place),
        log_sum(rows, place),
        loss(rows, place),
        factor(normal_values(rows, 6), place),
        dx(rows * n, place),
        targets({0, static_cast<std::int32_t>(n - 1), -1, static_cast<std::int32_t>(n / 2)}, place) {}
};

TEST(CrossEntropy, MatchesItsTwin) {
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      if (n == 0) continue;
      for (const Real smoothing : {Real{0}, Real(0.1)}) {
        for (const Place place : kPlaces) {
          SCOPED_TRACE(testing::Message() << "classes " << n << ", smoothing " << smoothing);
          const TargetWeights weights{1 - smoothing, smoothing / static_cast<Real>(n), -1};
          const Logits got(n, place), want(n, place);
          constexpr Index rows = Logits::rows;
          cross_entropy(rows, n, got.x.data(), got.targets.data(), weights, got.log_sum.data(), got.loss.data());
          ref::cross_entropy(rows, n, want.x.data(), want.targets.data(), weights, want.log_sum.data(),
                             want.loss.data());
          // Rounding is relative to the largest logit, here below 15; the sums add n terms.
          const auto magnitude = [](Index) { return 15.0; };
          expect_close(got.log_sum.values(), want.log_sum.values(), 8 + static_cast<double>(n) / 4, magnitude);
          expect_close(got.loss.values(), want.loss.values(), 8 + static_cast<double>(n) / 4, magnitude);
          EXPECT_EQ(got.loss[2], 0);

          // The twin's log_sum for both, so that only the backward is compared.
          cross_entropy_backward(rows, n, got.x.data(), got.targets.data(), weights, want.log_sum.data(),
                                 got.factor.data(), got.dx.data());
          ref::cross_entropy_backward(rows, n, want.x.data(), want.targets.data(), weights, want.log_sum.data(),
                                      want.factor.data(), want.dx.data());
          // p's error is relative to p |x - log_sum|, at most 1/e; then three roundings relative to 1.
          expect_close(got.dx.values(), want.dx.values(), 8, [&](Index i) { return std::abs(got.factor[i / n]); });
          for (Index i = 2 * n; i < 3 * n; ++i) EXPECT_EQ(got.dx[i], 0);
          cross_entropy_backward(rows, n, got.x.data(), got.targets.data(), weights, want.log_sum.data(),
                                 got.factor.data(), got.x.data());
          expect_same(got.x.values(), got.dx.values());
        }
      }
    }
  });
}

TEST(CrossEntropy, NotFiniteRows) {
  on_every_target([] {
    constexpr Index n = 21;
    const std::int32_t targets[] = {4, 5, 4, 4};
    std::vector<Real> x(4 * n, 0);
    x[5] = -kInfinity;                                              // row 0: another class is ruled out
    x[n + 5] = -kInfinity;                                          // row 1: the target is
    x[2 * n + 20] = kNaN;                                           // row 2
    for (std::size_t i = 3 * n; i < 4 * n; ++i) x[i] = -kInfinity;  // row 3: all are
    std::vector<Real> log_sum(4), loss(4), want_log_sum(4), want(4);
    for (const TargetWeights weights : {TargetWeights{1, 0, -1}, TargetWeights{Real(0.79), Real(0.01), -1}}) {
      cross_entropy(4, n, x.data(), targets, weights, log_sum.data(), loss.data());
      ref::cross_entropy(4, n, x.data(), targets, weights, want_log_sum.data(), want.data());
      if (weights.each == 0) {
        EXPECT_LE(ulps(loss[0], std::log(20.0)), 2);
      } else {
        EXPECT_EQ(loss[0], kInfinity);
      }
      EXPECT_EQ(loss[1], kInfinity);
      EXPECT_TRUE(std::isnan(loss[2]));
      EXPECT_TRUE(std::isnan(loss[3]));
      expect_ulps(log_sum, want_log_sum, 2);
      expect_ulps(loss, want, 2);
    }
  });
}

TEST(Softmax, ThreadsDoNotChangeTheResult) {
  constexpr Index rows = 131, n = 509;
  const std::vector<Real> x = normal_values(rows * n, 7), dy = normal_values(rows * n, 8),
                          some = normal_values(rows, 9);
  std::vector<std::int32_t> targets;
  const auto allowed = std::make_unique<bool[]>(rows * n);
  for (Index i = 0; i < rows * n; ++i) allowed[static_cast<std::size_t>(i)] = i % 7 != 3;
  for (Index r = 0; r < rows; ++r) targets.push_back(static_cast<std::int32_t>(r * 3));
  const RowMask mask{allowed.get(), n};
  const TargetWeights weights{Real(0.9), Real(0.1) / n, 30};
  on_every_target([&] {
    const auto check = [&](Index size, const auto& body) {
      expect_same_on_any_thread_count([&] {
        std::vector<Real> out(static_cast<std::size_t>(size));
        body(out.data());
        return out;
      });
    };
    check(rows * n, [&](Real* y) { softmax(rows, n, x.data(), mask, y); });
    check(rows * n, [&](Real* dx) { softmax_backward(rows, n, dy.data(), x.data(), dx); });
    check(rows * n, [&](Real* y) { log_softmax(rows, n, x.data(), mask, y); });
    check(rows * n, [&](Real* dx) { log_softmax_backward(rows, n, dy.data(), x.data(), mask, dx); });
    check(2 * rows, [&](Real* out) { cross_entropy(rows, n, x.data(), targets.data(), weights, out, out + rows); });
    check(rows * n, [&](Real* dx) {
      cross_entropy_backward(rows, n, x.data(), targets.data(), weights, some.data(), some.data(), dx);
    });
  });
}

}  // namespace
}  // namespace heed::kernels
