#include "heed/kernels/ref/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

constexpr Index kRows = 5;

// Mean and variance of a row in double: what its rounding errors are relative to.
struct RowScale {
  double mean, deviation, largest;
};
RowScale row_scale(const Real* z, Index n) {
  double mean = 0, variance = 0, largest = 0;
  for (Index i = 0; i < n; ++i)
    mean += z[i] / static_cast<double>(n), largest = std::max(largest, std::abs(double(z[i])));
  for (Index i = 0; i < n; ++i) variance += (z[i] - mean) * (z[i] - mean) / static_cast<double>(n);
  return {mean, std::sqrt(variance), largest};
}

struct Inputs {
  Index n;
  Buffer x, residual, gain, bias;
  Inputs(Index size, Place place, double offset)
      : n(size),
        x(normal_values(kRows * size, 1), place),
        residual(normal_values(kRows * size, 2), place),
        gain(normal_values(size, 3), place),
        bias(normal_values(size, 4), place) {
    for (Index i = 0; i < x.size(); ++i) x[i] += static_cast<Real>(offset);
  }
  LayerNorm size() const { return {kRows, n, Real(1e-5)}; }
};

struct Outputs {
  Buffer sum, moments, y;
  Outputs(Index n, Place place) : sum(kRows * n, place), moments(2 * kRows, place), y(kRows * n, place) {}
};

void compare_norm(const Inputs& in, const Outputs& got, const Outputs& want, const Real* z) {
  const Index n = in.n;
  // The mean is a sum of n numbers of up to `largest`, its error shifts the whole row.
  const double roundings = 8 + static_cast<double>(n) / 4;
  const auto scale_of = [&](Index row) { return row_scale(z + row * n, n); };
  expect_close(got.moments.values(), want.moments.values(), roundings, [&](Index i) {
    const RowScale row = scale_of(i / 2);
    const double inverse = want.moments[2 * (i / 2) + 1];
    return i % 2 == 0 ? row.largest : inverse * (1 + row.largest * inverse);
  });
  std::vector<double> relative;
  for (Index r = 0; r < kRows; ++r) relative.push_back(scale_of(r).largest * want.moments[2 * r + 1]);
  expect_close(got.y.values(), want.y.values(), roundings, [&](Index i) {
    const double at_row = relative[static_cast<std::size_t>(i / n)];
    return std::abs(in.gain[i % n]) * (8 + 2 * at_row) + std::abs(in.bias[i % n]);
  });
}

TEST(LayerNorm, MatchesItsTwin) {
  on_every_target([] {
    for (const double offset : {0.0, 100.0}) {
      for (const Index n : awkward_lengths()) {
        if (n == 0) continue;
        for (const Place place : kPlaces) {
          SCOPED_TRACE(testing::Message() << "length " << n << ", offset " << offset);
          const Inputs in(n, place, offset);
          const Outputs got(n, place), want(n, place);
          layer_norm(in.size(), in.x.data(), nullptr, in.gain.data(), in.bias.data(), nullptr, got.moments.data(),
                     got.y.data());
          ref::layer_norm(in.size(), in.x.data(), nullptr, in.gain.data(), in.bias.data(), nullptr, want.moments.data(),
                          want.y.data());
          compare_norm(in, got, want, in.x.data());

          layer_norm(in.size(), in.x.data(), in.residual.data(), in.gain.data(), in.bias.data(), got.sum.data(),
                     got.moments.data(), got.y.data());
          ref::layer_norm(in.size(), in.x.data(), in.residual.data(), in.gain.data(), in.bias.data(), want.sum.data(),
                          want.moments.data(), want.y.data());
          expect_same(got.sum.values(), want.sum.values());
          compare_norm(in, got, want, want.sum.data());
        }
      }
    }
  });
}

TEST(LayerNorm, MayWriteOverItsInputs) {
  on_every_target([] {
    for (const Index n : {1, 7, 16, 33}) {
      const Outputs plain(n, Place::misaligned), with_residual(n, Place::misaligned), out(n, Place::misaligned);
      const Inputs clean(n, Place::misaligned, 0);
      layer_norm(clean.size(), clean.x.data(), nullptr, clean.gain.data(), clean.bias.data(), nullptr,
                 plain.moments.data(), plain.y.data());
      layer_norm(clean.size(), clean.x.data(), clean.residual.data(), clean.gain.data(), clean.bias.data(),
                 with_residual.sum.data(), with_residual.moments.data(), with_residual.y.data());
      const auto run = [&](const Inputs& in, const Real* residual, Real* sum, Real* y) {
        layer_norm(in.size(), in.x.data(), residual, in.gain.data(), in.bias.data(), sum, out.moments.data(), y);
      };
      {
        const Inputs in(n, Place::misaligned, 0);  // y is x
        run(in, nullptr, nullptr, in.x.data());
        expect_same(in.x.values(), plain.y.values());
      }
      for (const bool over_x : {true, false}) {
        {
          const Inputs in(n, Place::misaligned, 0);  // sum is x or residual
          const Buffer& over = over_x ? in.x : in.residual;
          run(in, in.residual.data(), over.data(), out.y.data());
          expect_same(over.values(), with_residual.sum.values());
          expect_same(out.y.values(), with_residual.y.values());
        }
        {
          const Inputs in(n, Place::misaligned, 0);  // y is x or residual, sum elsewhere
          const Buffer& over = over_x ? in.x : in.residual;
          run(in, in.residual.data(), out.sum.data(), over.data());
          expect_same(out.sum.values(), with_residual.sum.values());
          expect_same(over.values(), with_residual.y.values());
        }
      }
    }
  });
}

TEST(LayerNorm, BackwardMatchesItsTwin) {
  on_every_target([] {
    for (const Index rows : {Index{1}, Index{5}, kLayerNormBlock, 2 * kLayerNormBlock + 1}) {
      for (const Index n : awkward_lengths()) {
        if (n == 0 || (rows > 5 && n != 3 && n != 16 && n != 33)) continue;
        for (const Place place : kPlaces) {
          SCOPED_TRACE(testing::Message() << rows << " rows of " << n);
          const LayerNorm size{rows, n, Real(1e-5)};
          const Index blocks = (rows + kLayerNormBlock - 1) / kLayerNormBlock;
          const Buffer z(normal_values(rows * n, 5), place), dy(normal_values(rows * n, 6), place);
          const Buffer gain(normal_values(n, 7), place), bias(normal_values(n, 8), place), y(rows * n, place);
          const Buffer moments(2 * rows, place), dz(rows * n, place), dz_want(rows * n, place);
          const Buffer partials(blocks * 2 * n, place), partials_want(blocks * 2 * n, place);
          ref::layer_norm(size, z.data(), nullptr, gain.data(), bias.data(), nullptr, moments.data(), y.data());
          layer_norm_backward(size, dy.data(), z.data(), moments.data(), gain.data(), dz.data(), partials.data());
          ref::layer_norm_backward(size, dy.data(), z.data(), moments.data(), gain.data(), dz_want.data(),
                                   partials_want.data());
          // |ẑ| < √n, and here below 5; |g| below 15.
          expect_close(dz.values(), dz_want.values(), 8 + static_cast<double>(n) / 4,
                       [&](Index i) { return moments[2 * (i / n) + 1] * 15 * 5; });
          expect_close(partials.values(), partials_want.values(), 64, [&](Index) { return 64.0; });
          layer_norm_backward(size, dy.data(), z.data(), moments.data(), gain.data(), dy.data(), partials_want.data());
          expect_same(dy.values(), dz.values());
          expect_same(partials_want.values(), partials.values());
        }
      }
    }
  });
}

TEST(LayerNorm, ConstantAndNotFiniteRows) {
  on_every_target([] {
    constexpr Index n = 19;
    const std::vector<Real> gain(n, 2), bias(n, 3);
    std::vector<Real> x(3 * n, Real(0.1)), y(3 * n), moments(6);
    x[n + 4] = std::numeric_limits<Real>::quiet_NaN();
    x[2 * n + 18] = std::numeric_limits<Real>::infinity();
    layer_norm({3, n, Real(1e-5)}, x.data(), nullptr, gain.data(), bias.data(), nullptr, moments.data(), y.data());
    // The mean's rounding error, at most some ulps of 0.1, is divided by √ε.
    for (Index i = 0; i < n; ++i) EXPECT_NEAR(y[static_cast<std::size_t>(i)], 3, 4 * 7.5e-9 / std::sqrt(1e-5) * 2);
    for (std::size_t i = n; i < 3 * n; ++i) EXPECT_TRUE(std::isnan(y[i]));
  });
}

TEST(LayerNorm, ThreadsDoNotChangeTheResult) {
  constexpr Index rows = 331, n = 257;
  const LayerNorm size{rows, n, Real(1e-5)};
  const std::vector<Real> x = normal_values(rows * n, 9), dy = normal_values(rows * n, 10), gain = normal_values(n, 11),
                          bias = normal_values(n, 12);
  on_every_target([&] {
    std::vector<Real> moments(2 * rows);
    expect_same_on_any_thread_count([&] {
      std::vector<Real> out(2 * rows * n);
      layer_norm(size, x.data(), dy.data(), gain.data(), bias.data(), out.data(), moments.data(),
                 out.data() + rows * n);
      return out;
    });
    expect_same_on_any_thread_count([&] {
      const Index blocks = (rows + kLayerNormBlock - 1) / kLayerNormBlock;
      std::vector<Real> out(static_cast<std::size_t>(rows * n + blocks * 2 * n));
      layer_norm_backward(size, dy.data(), x.data(), moments.data(), gain.data(), out.data(), out.data() + rows * n);
      return out;
    });
  });
}

}  // namespace
}  // namespace heed::kernels
