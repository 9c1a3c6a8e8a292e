#include "heed/kernels/ref/elementwise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

constexpr Real kSmallest = std::numeric_limits<Real>::denorm_min();
constexpr Real kHuge = std::numeric_limits<Real>::max();

// What the headers promise, in ulps of the result; 0 where one rounding leaves no choice. gelu's bounds stand below.
struct UnaryBound {
  Unary f;
  double forward;   // ulps
  double backward;  // ulps, where the derivative does not cancel
};
constexpr UnaryBound kUnary[] = {{Unary::identity, 0, 0}, {Unary::negate, 0, 0}, {Unary::tanh, 4, 0},
                                 {Unary::sigmoid, 3, 0},  {Unary::relu, 0, 0},   {Unary::relu6, 0, 0},
                                 {Unary::gelu, 0, 0},     {Unary::exp, 1.5, 1},  {Unary::log, 1, 1},
                                 {Unary::sqrt, 0, 1},     {Unary::square, 0, 1}};

std::vector<Real> inputs_of(Unary f, Index n, std::uint64_t seed) {
  const bool positive = f == Unary::log || f == Unary::sqrt;
  return positive ? uniform_values(n, seed, 0.01, 9) : normal_values(n, seed, 3);
}

TEST(Elementwise, UnaryMatchesItsTwin) {
  on_every_target([] {
    for (const UnaryBound& bound : kUnary) {
      for (const Index n : awkward_lengths()) {
        for (const Place place : kPlaces) {
          SCOPED_TRACE(testing::Message() << "function " << static_cast<int>(bound.f) << ", length " << n);
          const Buffer x(inputs_of(bound.f, n, 1), place), y(n, place), want(n, place);
          unary(bound.f, n, x.data(), y.data());
          ref::unary(bound.f, n, x.data(), want.data());
          if (bound.f == Unary::gelu) {  // 4 ulps from -1 up; 1e-7, which is 1.7 half-ulps of 1, below
            expect_close(y.values(), want.values(), 1,
                         [&](Index i) { return x[i] < -1 ? 1.7 : 8 * std::abs(want[i]); });
          } else {
            expect_ulps(y.values(), want.values(), bound.forward);
          }
          unary(bound.f, n, x.data(), x.data());  // in place
          expect_same(x.values(), y.values());
        }
      }
    }
  });
}

TEST(Elementwise, UnaryBackwardMatchesItsTwin) {
  on_every_target([] {
    for (const UnaryBound& bound : kUnary) {
      for (const Index n : awkward_lengths()) {
        for (const Place place : kPlaces) {
          SCOPED_TRACE(testing::Message() << "function " << static_cast<int>(bound.f) << ", length " << n);
          const Buffer dy(normal_values(n, 2), place), saved(inputs_of(bound.f, n, 1), place);
          const Buffer dx(n, place), want(n, place);
          if (saves_output(bound.f)) ref::unary(bound.f, n, saved.data(), saved.data());
          unary_backward(bound.f, n, dy.data(), saved.data(), dx.data());
          ref::unary_backward(bound.f, n, dy.data(), saved.data(), want.data());
          if (bound.backward > 0) {
            expect_ulps(dx.values(), want.values(), bound.backward);
          } else {  // 1 - y, 1 - y² and gelu's two terms cancel: the error is relative to 1
            const double most = bound.f == Unary::gelu ? 6 : 3;
            expect_close(dx.values(), want.values(), most, [&](Index i) { return std::abs(dy[i]); });
          }
          unary_backward(bound.f, n, dy.data(), saved.data(), dy.data());  // in place
          expect_same(dy.values(), dx.values());
        }
      }
    }
  });
}

#ifndef HEED_DOUBLE
constexpr std::uint32_t kStride = 2003;

// The largest error of f over every kStride-th float in [low, high].
template <class Reference>
double worst_error(Unary f, float low, float high, const Reference& reference, float& where) {
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits < 0xFF800000U; bits += kStride) {
    const float v = std::bit_cast<float>(bits);
    if (v >= low && v <= high) x.push_back(v);
  }
  std::vector<float> y(x.size());
  unary(f, static_cast<Index>(x.size()), x.data(), y.data());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = reference(static_cast<double>(x[i]));
    const double error = ulps(y[i], want);
    if (error > worst) worst = error, where = x[i];
  }
  return worst;
}

struct Sweep {
  const char* name;
  Unary f;
  float low, high;
  double bound;  // as stated in simd-inl.h and elementwise.h
  double (*reference)(double);
};
const Sweep kSweeps[] = {
    {"exp", Unary::exp, -kHuge, kHuge, 1.5, [](double x) { return std::exp(x); }},
    {"tanh", Unary::tanh, -kHuge, kHuge, 4, [](double x) { return std::tanh(x); }},
    {"sigmoid", Unary::sigmoid, -87, kHuge, 3, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"log", Unary::log, kSmallest, kHuge, 1, [](double x) { return std::log(x); }},
    {"sqrt", Unary::sqrt, 0, kHuge, 0.5, [](double x) { return std::sqrt(x); }},
    {"gelu", Unary::gelu, -1, kHuge, 4,
     [](double x) { return x / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))); }},
};

TEST(Elementwise, ErrorOverAllFloats) {
  on_every_target([] {
    for (const Sweep& sweep : kSweeps) {
      float where = 0;
      const double worst = worst_error(sweep.f, sweep.low, sweep.high, sweep.reference, where);
      EXPECT_LE(worst, sweep.bound) << sweep.name << " at " << where;
    }
  });
}
#endif

TEST(Elementwise, BinaryMatchesItsTwin) {
  struct Layout {
    Index rows, a_row, a_step, b_row, b_step;  // row strides as multiples of n
  };
  constexpr Layout kLayouts[] = {{1, 1, 1, 1, 1}, {3, 1, 1, 1, 1}, {3, 1, 1, 0, 1}, {3, 0, 1, 1, 1},
                                 {3, 1, 1, 0, 0}, {3, 0, 0, 1, 1}, {3, 0, 0, 0, 0}, {3, 2, 1, 1, 1}};
  on_every_target([&] {
    for (const Binary f : {Binary::add, Binary::subtract, Binary::multiply, Binary::divide}) {
      for (const Layout& layout : kLayouts) {
        for (const Index n : awkward_lengths()) {
          for (const Place place : kPlaces) {
            const auto extent = [&](Index row, Index step) {
              return std::max<Index>(1, (layout.rows - 1) * row * n + (step ? n : 1));
            };
            const Buffer a(normal_values(extent(layout.a_row, layout.a_step), 3), place);
            const Buffer b(uniform_values(extent(layout.b_row, layout.b_step), 4, 0.5, 2), place);
            const Operand left{a.data(), layout.a_row * n, layout.a_step};
            const Operand right{b.data(), layout.b_row * n, layout.b_step};
            const Buffer out(layout.rows * n, place), want(layout.rows * n, place);
            binary(f, layout.rows, n, left, right, out.data());
            ref::binary(f, layout.rows, n, left, right, want.data());
            expect_same(out.values(), want.values());  // IEEE operations: one rounding, no choice
          }
        }
      }
    }
  });
}

TEST(Elementwise, BinaryMayWriteOverEitherOperand) {
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      const Buffer a(normal_values(3 * n, 5), Place::misaligned), b(normal_values(3 * n, 6), Place::misaligned);
      const Buffer row(normal_values(n, 7), Place::at_fence), want(3 * n, Place::at_fence);
      ref::binary(Binary::subtract, 3, n, {a.data(), n, 1}, {b.data(), n, 1}, want.data());
      binary(Binary::subtract, 3, n, {a.data(), n, 1}, {b.data(), n, 1}, b.data());
      expect_same(b.values(), want.values());
      ref::binary(Binary::multiply, 3, n, {a.data(), n, 1}, {row.data(), 0, 1}, want.data());
      binary(Binary::multiply, 3, n, {a.data(), n, 1}, {row.data(), 0, 1}, a.data());
      expect_same(a.values(), want.values());
    }
  });
}

TEST(Elementwise, AccumulateAndScaleMatchTheirTwins) {
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      for (const Place place : kPlaces) {
        const Buffer x(normal_values(n, 8), place), y(normal_values(n, 9), place), want(y.values(), place);
        accumulate(n, x.data(), y.data());
        ref::accumulate(n, x.data(), want.data());
        expect_same(y.values(), want.values());
        scale(n, Real(0.3), x.data(), y.data());
        ref::scale(n, Real(0.3), x.data(), want.data());
        expect_same(y.values(), want.values());
        scale(n, Real(0.3), x.data(), x.data());
        expect_same(x.values(), want.values());
      }
    }
  });
}

TEST(Elementwise, BiasActivationMatchesItsTwin) {
  constexpr Index rows = 3;
  on_every_target([] {
    for (const Unary f : {Unary::identity, Unary::tanh, Unary::sigmoid, Unary::relu, Unary::gelu}) {
      for (const Index n : awkward_lengths()) {
        for (const Place place : kPlaces) {
          const Buffer x(normal_values(rows * n, 10, 2), place), bias(normal_values(n, 11), place);
          const Buffer y(rows * n, place), want(rows * n, place);
          for (const Real* b : {static_cast<const Real*>(bias.data()), static_cast<const Real*>(nullptr)}) {
            bias_activation(f, rows, n, x.data(), b, y.data());
            ref::bias_activation(f, rows, n, x.data(), b, want.data());
            // x + bias is rounded once more than in the twin, relative to the larger of the two.
            expect_close(y.values(), want.values(), 8,
                         [&](Index i) { return 1 + std::abs(x[i]) + std::abs(bias[i % n]); });
          }
          bias_activation(f, rows, n, x.data(), nullptr, x.data());
          expect_same(x.values(), y.values());
        }
      }
    }
  });
}

TEST(Elementwise, GluMatchesItsTwin) {
  constexpr Index rows = 3;
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      for (const Place place : kPlaces) {
        const Buffer x(normal_values(rows * 2 * n, 12, 3), place), dy(normal_values(rows * n, 13), place);
        const Buffer y(rows * n, place), y_want(rows * n, place), dx(rows * 2 * n, place), dx_want(rows * 2 * n, place);
        glu(rows, n, x.data(), y.data());
        ref::glu(rows, n, x.data(), y_want.data());
        expect_ulps(y.values(), y_want.values(), 4);  // sigmoid's 3, and the product
        glu_backward(rows, n, dy.data(), x.data(), dx.data());
        ref::glu_backward(rows, n, dy.data(), x.data(), dx_want.data());
        // 1 - σ cancels: relative to dy a.
        expect_close(dx.values(), dx_want.values(), 16, [&](Index i) {
          const Index row = i / (2 * n), column = i % n;
          return std::abs(dy[row * n + column]) * (1 + std::abs(x[row * 2 * n + column]));
        });
      }
    }
  });
}

TEST(Elementwise, MaxoutMatchesItsTwin) {
  for (const Index pieces : {1, 2, 3, 5}) {
    for (const Index n : awkward_lengths()) {
      std::vector<Real> values = normal_values(n * pieces, 14);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::round(values[i]);  // ties
      if (n > 3) values[static_cast<std::size_t>(3 * pieces - 1)] = kNaN;
      const Buffer x(values, Place::at_fence), dy(normal_values(n, 15), Place::misaligned);
      const Buffer y(n, Place::misaligned), y_want(n, Place::misaligned);
      const Buffer dx(n * pieces, Place::misaligned), dx_want(n * pieces, Place::misaligned);
      maxout(n, pieces, x.data(), y.data());
      ref::maxout(n, pieces, x.data(), y_want.data());
      expect_same(y.values(), y_want.values());
      maxout_backward(n, pieces, dy.data(), x.data(), dx.data());
      ref::maxout_backward(n, pieces, dy.data(), x.data(), dx_want.data());
      expect_same(dx.values(), dx_want.values());
    }
  }
}

TEST(Elementwise, FirstNotFiniteFindsEveryPosition) {
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      const Buffer x(normal_values(n, 16), Place::at_fence);
      EXPECT_EQ(first_not_finite(n, x.data()), -1);
      for (Index at = 0; at<n; at += n> 64 ? 37 : 1) {
        for (const Real bad : {kNaN, kInfinity, -kInfinity}) {
          const Real before = x[at], last = x[n - 1];
          x[n - 1] = kNaN;  // a later one does not matter
          x[at] = bad;
          EXPECT_EQ(first_not_finite(n, x.data()), at);
          EXPECT_EQ(ref::first_not_finite(n, x.data()), at);
          x[n - 1] = last;
          x[at] = before;
        }
      }
    }
  });
}

TEST(Elementwise, SumOfSquaresIsADoubleSum) {
  on_every_target([] {
    for (const Index n : awkward_lengths()) {
      for (const Place place : kPlaces) {
        const Buffer x(normal_values(n, 17), place);
        const double want = ref::sum_of_squares(n, x.data());
        EXPECT_NEAR(sum_of_squares(n, x.data()), want, 1e-14 * want);
        for (Index i = 0; i < n; ++i) x[i] = Real(1e30);  // the square is no float
        EXPECT_NEAR(sum_of_squares(n, x.data()), 1e60 * static_cast<double>(n), 1e54 * static_cast<double>(n));
      }
    }
  });
}

// What the functions make of NaN, infinities, zeros and the ends of the range.
TEST(Elementwise, EdgeValues) {
  struct Edge {
    Unary f;
    Real x, y;
  };
  const Edge edges[] = {
      {Unary::exp, 0, 1},
      {Unary::exp, Real(-0.0), 1},
      {Unary::exp, kSmallest, 1},
      {Unary::exp, -kInfinity, 0},
      {Unary::exp, -kHuge, 0},
      {Unary::exp, kInfinity, kInfinity},
      {Unary::exp, kHuge, kInfinity},
      {Unary::tanh, 0, 0},
      {Unary::tanh, kSmallest, kSmallest},
      {Unary::tanh, -kSmallest, -kSmallest},
      {Unary::tanh, kInfinity, 1},
      {Unary::tanh, -kInfinity, -1},
      {Unary::tanh, kHuge, 1},
      {Unary::tanh, -kHuge, -1},
      {Unary::sigmoid, 0, Real(0.5)},
      {Unary::sigmoid, kSmallest, Real(0.5)},
      {Unary::sigmoid, kInfinity, 1},
      {Unary::sigmoid, -kInfinity, 0},
      {Unary::sigmoid, kHuge, 1},
      {Unary::sigmoid, -kHuge, 0},
      {Unary::relu, Real(-0.0), 0},
      {Unary::relu, -kSmallest, 0},
      {Unary::relu, kSmallest, kSmallest},
      {Unary::relu, kInfinity, kInfinity},
      {Unary::relu, -kInfinity, 0},
      {Unary::relu6, Real(-0.0), 0},
      {Unary::relu6, -kInfinity, 0},
      {Unary::relu6, kSmallest, kSmallest},
      {Unary::relu6, kInfinity, 6},
      {Unary::gelu, 0, 0},
      {Unary::gelu, kInfinity, kInfinity},
      {Unary::gelu, -kInfinity, 0},
      {Unary::gelu, kHuge, kHuge},
      {Unary::gelu, -kHuge, 0},
      {Unary::log, 0, -kInfinity},
      {Unary::log, Real(-0.0), -kInfinity},
      {Unary::log, 1, 0},
      {Unary::log, kInfinity, kInfinity},
      {Unary::log, -kSmallest, kNaN},
      {Unary::log, -1, kNaN},
      {Unary::log, -kInfinity, kNaN},
      {Unary::sqrt, 0, 0},
      {Unary::sqrt, kInfinity, kInfinity},
      {Unary::sqrt, -1, kNaN},
      {Unary::square, kHuge, kInfinity},
      {Unary::square, -kInfinity, kInfinity},
      {Unary::square, kSmallest, 0},
  };
  on_every_target([&] {
    for (const Edge& edge : edges) {
      for (const Index n : {1, 19}) {  // in the rest of a vector, and in whole vectors
        const std::vector<Real> x(static_cast<std::size_t>(n), edge.x), want(static_cast<std::size_t>(n), edge.y);
        std::vector<Real> y(x.size());
        SCOPED_TRACE(testing::Message() << "function " << static_cast<int>(edge.f) << " of " << edge.x);
        unary(edge.f, n, x.data(), y.data());
        expect_same(y, want);
        ref::unary(edge.f, n, x.data(), y.data());
        expect_same(y, want);
      }
    }
    for (const UnaryBound& bound : kUnary) {
      std::vector<Real> x(19, kNaN), y(19);
      unary(bound.f, 19, x.data(), y.data());
      for (const Real v : y) EXPECT_TRUE(std::isnan(v)) << "function " << static_cast<int>(bound.f) << " of NaN";
    }
  });
}

TEST(Elementwise, GeluSlopeAtTheEndsOfTheRange) {
  on_every_target([] {
    const std::vector<Real> x = {kInfinity, kHuge, Real(1e20), 30, 0, -30, Real(-1e20), -kHuge, -kInfinity, kNaN};
    const std::vector<Real> dy(x.size(), 1), want = {1, 1, 1, 1, Real(0.5), 0, 0, 0, 0, kNaN};
    std::vector<Real> dx(x.size());
    unary_backward(Unary::gelu, static_cast<Index>(x.size()), dy.data(), x.data(), dx.data());
    expect_same(dx, want);
  });
}

TEST(Elementwise, ThreadsDoNotChangeTheResult) {
  constexpr Index n = 131 * 1009;  // above the grain, and no multiple of a vector
  const std::vector<Real> x = normal_values(2 * n, 18), y = normal_values(n, 19), bias = normal_values(1009, 20);
  on_every_target([&] {
    const auto check = [&](Index size, const auto& body) {
      expect_same_on_any_thread_count([&] {
        std::vector<Real> out(static_cast<std::size_t>(size));
        body(out.data());
        return out;
      });
    };
    for (const UnaryBound& bound : kUnary) {
      check(n, [&](Real* out) { unary(bound.f, n, x.data(), out); });
      check(n, [&](Real* out) { unary_backward(bound.f, n, y.data(), x.data(), out); });
      check(n, [&](Real* out) { bias_activation(bound.f, 131, 1009, x.data(), bias.data(), out); });
    }
    check(n, [&](Real* out) { binary(Binary::divide, 131, 1009, {x.data(), 1009, 1}, {y.data(), 1009, 1}, out); });
    check(n, [&](Real* out) { binary(Binary::add, 131, 1009, {x.data(), 1009, 1}, {bias.data(), 0, 1}, out); });
    check(n, [&](Real* out) { accumulate(n, x.data(), out); });
    check(n, [&](Real* out) { scale(n, Real(1.7), x.data(), out); });
    check(n, [&](Real* out) { glu(131, 1009, x.data(), out); });
    check(2 * n, [&](Real* out) { glu_backward(131, 1009, y.data(), x.data(), out); });
  });
}

}  // namespace
}  // namespace heed::kernels
