#include "heed/kernels/ref/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

struct Product {
  Index m, n, k;
};

// A stored matrix with `extra` elements between its rows.
struct Stored {
  Index stride;
  bool transposed;
  Buffer data;
  Stored(Index rows, Index columns, bool flip, Index extra, std::uint64_t seed, Place place)
      : stride(std::max<Index>(1, (flip ? rows : columns) + extra)),
        transposed(flip),
        data(normal_values((flip ? columns : rows) * stride, seed), place) {}
  Matrix matrix() const { return {data.data(), stride, transposed}; }
};

struct Factors {
  Real alpha, beta;
};
constexpr Factors kFactors[] = {{1, 0}, {1, 1}, {Real(0.5), Real(-2)}};

void expect_twins(const Product& product, bool a_flip, bool b_flip, Index extra, const Factors& factors, Place place) {
  const auto& [m, n, k] = product;
  const auto& [alpha, beta] = factors;
  SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << (a_flip ? " At" : " A") << (b_flip ? " Bt" : " B")
                                  << " extra " << extra << " beta " << beta);
  const Stored a(m, k, a_flip, extra, 1, place), b(k, n, b_flip, extra, 2, place);
  const Stored got(m, n, false, extra, 3, place), want(m, n, false, extra, 3, place);
  if (beta == 0)  // need not be initialised
    for (Index r = 0; r < m; ++r)
      for (Index c = 0; c < n; ++c) got.data[r * got.stride + c] = std::numeric_limits<Real>::quiet_NaN();
  gemm(m, n, k, alpha, a.matrix(), b.matrix(), beta, got.data.data(), got.stride);
  ref::gemm(m, n, k, alpha, a.matrix(), b.matrix(), beta, want.data.data(), want.stride);
  // k + 2 roundings of a sum of products of standard normal numbers: Σ |a b| ≈ 0.64 k.
  expect_close(got.data.values(), want.data.values(), static_cast<double>(k + 2),
               [depth = static_cast<double>(k)](Index) { return depth + 4; });
}

TEST(Gemm, MatchesItsTwin) {
  constexpr Product kProducts[] = {{1, 1, 1},     {1, 17, 33},   {17, 1, 33},  {33, 17, 1},
                                   {3, 5, 7},     {16, 16, 16},  {31, 33, 65}, {64, 48, 128},
                                   {7, 129, 257}, {33, 66, 256}, {48, 9, 20},  {25, 70, 40}};
  for (const Product& product : kProducts)
    for (const bool a_flip : {false, true})
      for (const bool b_flip : {false, true})
        for (const Index extra : {0, 3})
          for (const Factors& factors : kFactors)
            for (const Place place : kPlaces) expect_twins(product, a_flip, b_flip, extra, factors, place);
}

// Every group of rows, tiles of columns that are whole, narrow and cut, one and several blocks of depth.
TEST(Gemm, FewRowsMatchTheirTwinOnEveryTarget) {
  on_every_target([] {
    for (const Index m : {1, 2, 3, 4, 5, 6, 7, 12, 24, 32})
      for (const Index n : {1, 15, 33, 64, 149})
        for (const Index k : {1, 31, 128, 259})
          for (const bool b_flip : {false, true})
            for (const Place place : kPlaces)
              expect_twins({m, n, k}, false, b_flip, m % 2 * 3, kFactors[(m + n + k) % 3], place);
  });
}

// A vector of rows or several, whole groups of columns and what is left of them, one and several blocks of both.
TEST(Gemm, SomeRowsMatchTheirTwinOnEveryTarget) {
  on_every_target([] {
    for (const Index m : {25, 32, 33, 64})
      for (const Index n : {1, 27, 400})
        for (const Index k : {512, 650})
          for (const Place place : kPlaces)
            expect_twins({m, n, k}, false, true, m % 2 * 3, kFactors[(m + n + k) % 3], place);
    for (const Index m : {48, 80}) expect_twins({m, 149, 259}, false, false, 3, kFactors[1], Place::misaligned);
  });
}

// Whole and cut tiles of all three sides, one and several blocks of rows, columns and depth; either side is turned.
TEST(Gemm, ManyRowsMatchTheirTwinOnEveryTarget) {
  constexpr Product kProducts[] = {{81, 48, 64}, {97, 77, 300}, {100, 129, 545}, {352, 70, 70}, {90, 350, 66}};
  on_every_target([&] {
    for (const Product& product : kProducts)
      for (const bool a_flip : {false, true})
        for (const bool b_flip : {false, true})
          for (const Factors& factors : kFactors)
            for (const Place place : kPlaces) expect_twins(product, a_flip, b_flip, 3, factors, place);
  });
}

// Neither with the rows and columns beside it nor with the cut over threads does an element change, whichever side is
// turned.
TEST(Gemm, ManyRowsAreTheSameOnAnyThreadCount) {
  constexpr Index m = 512, n = 288, k = 600;
  const std::vector<Real> a = normal_values(m * k, 4), b = normal_values(k * n, 5);
  for (const bool a_flip : {false, true})
    for (const bool b_flip : {false, true})
      for (const bool wide : {false, true}) {
        const Index rows = wide ? n : m, columns = wide ? m : n;
        const Matrix left{(wide ? b : a).data(), a_flip ? rows : k, a_flip},
            right{(wide ? a : b).data(), b_flip ? k : columns, b_flip};
        expect_same_on_any_thread_count([&] {
          std::vector<Real> c(static_cast<std::size_t>(rows * columns));
          gemm(rows, columns, k, 1, left, right, 0, c.data(), columns);
          return c;
        });
      }
}

// Parts of numbers that are far apart in size, and zeros: a part may be too small for a number of its own.
TEST(Gemm, ManyRowsHaveLargeAndSmallNumbers) {
  constexpr Index m = 96, n = 64, k = 64;
  std::vector<Real> a = normal_values(m * k, 6), b = normal_values(k * n, 7), got(m * n), want(m * n);
  for (Index i = 0; i < m * k; ++i) a[i] = i % 7 == 0 ? 0 : std::ldexp(a[i], static_cast<int>(i / k % 3) * 60 - 60);
  gemm(m, n, k, 1, {a.data(), k}, {b.data(), n}, 0, got.data(), n);
  ref::gemm(m, n, k, 1, {a.data(), k}, {b.data(), n}, 0, want.data(), n);
  for (Index row = 0; row < m; ++row) {
    const Real size = std::ldexp(Real{1}, static_cast<int>(row % 3) * 60 - 60);
    for (Index column = 0; column < n; ++column)
      EXPECT_NEAR(got[row * n + column] / size, want[row * n + column] / size,
                  (k + 2) * (k + 4) * std::numeric_limits<Real>::epsilon());
  }
}

TEST(Gemm, ManyRowsWithNoNumberHaveNone) {
  constexpr Index m = 96, n = 64, k = 64;
  std::vector<Real> a = normal_values(m * k, 6), got(m * n);
  const std::vector<Real> b = normal_values(k * n, 7);
  a[5 * k + 3] = std::numeric_limits<Real>::quiet_NaN(), a[7 * k] = std::numeric_limits<Real>::infinity();
  gemm(m, n, k, 1, {a.data(), k}, {b.data(), n}, 0, got.data(), n);
  for (Index row = 0; row < m; ++row)
    for (Index column = 0; column < n; ++column)
      EXPECT_EQ(std::isfinite(got[row * n + column]), row != 5 && row != 7) << row << ", " << column;
}

// A sentence's numbers do not change with those beside it: neither with the rows nor with the cut over threads.
TEST(Gemm, FewRowsAreTheSameAloneAndTogether) {
  constexpr Index m = 24, n = 1100, k = 300;
  const std::vector<Real> a = normal_values(m * k, 4), b = normal_values(k * n, 5);
  for (const bool flip : {false, true}) {
    const Matrix right{b.data(), flip ? k : n, flip};
    std::vector<Real> together(m * n), alone(m * n);
    gemm(m, n, k, 1, {a.data(), k}, right, 0, together.data(), n);
    for (Index row = 0; row < m; ++row) gemm(1, n, k, 1, {a.data() + row * k, k}, right, 0, alone.data() + row * n, n);
    expect_same(together, alone);
    expect_same_on_any_thread_count([&] {
      std::vector<Real> c(m * n);
      gemm(m, n, k, 1, {a.data(), k}, right, 0, c.data(), n);
      return c;
    });
  }
}

// Tiles of equal and of unequal width, whole and cut, B either way round; of an untransposed B the very sums of gemm.
TEST(Gemm, PackedMatchesItsTwinOnEveryTarget) {
  on_every_target([] {
    for (const Index m : {1, 5, 6, 16, 32})
      for (const Index n : {1, 15, 65, 100, 400})
        for (const Index k : {1, 100, 259})
          for (const bool flip : {false, true})
            for (const Place place : kPlaces) {
              SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << (flip ? " Bt" : " B"));
              const Real beta = m % 2 == 0 ? 1 : 0;
              const Stored a(m, k, false, 3, 1, place), b(k, n, flip, 2, 2, place);
              const Stored got(m, n, false, 1, 3, place), want(m, n, false, 1, 3, place),
                  plain(m, n, false, 1, 3, place);
              const Buffer packed(packed_size(n, k), place);
              pack(n, k, b.matrix(), packed.data());
              ASSERT_TRUE(takes_packed(m));
              gemm_packed(m, n, k, a.data.data(), a.stride, packed.data(), beta, got.data.data(), got.stride);
              ref::gemm(m, n, k, 1, a.matrix(), b.matrix(), beta, want.data.data(), want.stride);
              expect_close(got.data.values(), want.data.values(), static_cast<double>(k + 2),
                           [depth = static_cast<double>(k)](Index) { return depth + 4; });
              if (flip) continue;
              gemm(m, n, k, 1, a.matrix(), b.matrix(), beta, plain.data.data(), plain.stride);
              expect_same(got.data.values(), plain.data.values());
            }
  });
}

TEST(Gemm, PackedIsTheSameOnAnyThreadCount) {
  constexpr Index m = 24, n = 1100, k = 300;
  const std::vector<Real> a = normal_values(m * k, 4), b = normal_values(k * n, 5);
  std::vector<Real> packed(static_cast<std::size_t>(packed_size(n, k)));
  pack(n, k, {b.data(), n}, packed.data());
  expect_same_on_any_thread_count([&] {
    std::vector<Real> c(m * n);
    gemm_packed(m, n, k, a.data(), k, packed.data(), 0, c.data(), n);
    return c;
  });
}

// Of as many rows as a batch has, too: one of a transposed B is turned where it is, many go through a packed tile.
TEST(Gemm, RowsThatAreAloneAreTheSameHoweverManyThereAre) {
  constexpr Index most = 70, n = 149, k = 259;
  const std::vector<Real> a = normal_values(most * k, 4), b = normal_values(k * n, 5);
  const RowsAlone alone(true);
  on_every_target([&] {
    for (const bool flip : {false, true}) {
      const Matrix right{b.data(), flip ? k : n, flip};
      std::vector<Real> one(n), all;
      for (const Index m : {2, 6, 7, 13, 64, 70}) {
        all.assign(static_cast<std::size_t>(m * n), 0);
        gemm(m, n, k, 1, {a.data(), k}, right, 0, all.data(), n);
        for (const Index row : {Index{0}, m / 2, m - 1}) {
          gemm(1, n, k, 1, {a.data() + row * k, k}, right, 0, one.data(), n);
          expect_same(std::vector<Real>(all.begin() + row * n, all.begin() + (row + 1) * n), one);
        }
      }
    }
  });
}

TEST(Gemm, EmptyExtents) {
  Real c[4] = {1, 2, 3, 4};
  const Real a[2] = {1, 1};
  gemm(0, 2, 2, 1, {a, 2}, {a, 2}, 0, c, 2);
  gemm(2, 0, 2, 1, {a, 2}, {a, 2}, 0, c, 2);
  expect_same(c, std::vector<Real>{1, 2, 3, 4});
  gemm(2, 2, 0, 1, {a, 1}, {a, 2}, Real(0.5), c, 2);  // a sum of nothing
  expect_same(c, std::vector<Real>{Real(0.5), 1, Real(1.5), 2});
  gemm(2, 2, 0, 1, {a, 1}, {a, 2}, 0, c, 2);
  expect_same(c, std::vector<Real>{0, 0, 0, 0});
}

TEST(Gemm, NotFiniteInputsReachTheirRowAndColumnOnly) {
  constexpr Index m = 19, n = 37, k = 21;
  std::vector<Real> a = normal_values(m * k, 4), b = normal_values(k * n, 5), c(m * n);
  a[3 * k + 5] = std::numeric_limits<Real>::quiet_NaN();
  b[7 * n + 11] = std::numeric_limits<Real>::infinity();
  gemm(m, n, k, 1, {a.data(), k}, {b.data(), n}, 0, c.data(), n);
  for (Index r = 0; r < m; ++r) {
    for (Index i = 0; i < n; ++i) {
      const Real v = c[static_cast<std::size_t>(r * n + i)];
      if (r == 3) {
        EXPECT_TRUE(std::isnan(v));
      } else {
        EXPECT_EQ(std::isinf(v), i == 11);
      }
    }
  }
}

// Both operands in any order, as broadcasting makes them; more work than one thread's share.
TEST(Gemm, BatchMatchesSingleProducts) {
  constexpr Index batch = 9, m = 13, n = 37, k = 29;
  const std::vector<Real> a = normal_values(batch * m * k, 6), b = normal_values(batch * k * n, 7);
  std::vector<Index> a_offsets, b_offsets, c_offsets;
  for (Index i = 0; i < batch; ++i) {
    a_offsets.push_back((batch - 1 - i) * m * k);
    b_offsets.push_back(i % 2 * k * n);
    c_offsets.push_back(i * m * n);
  }
  const Buffer got(batch * m * n, Place::misaligned);
  std::vector<Real> want(static_cast<std::size_t>(batch * m * n));
  gemm_batch(batch, m, n, k, 2, {a.data(), k}, {b.data(), n}, 0, got.data(), n,
             {a_offsets.data(), b_offsets.data(), c_offsets.data()});
  for (std::size_t i = 0; i < batch; ++i)
    ref::gemm(m, n, k, 2, {a.data() + a_offsets[i], k}, {b.data() + b_offsets[i], n}, 0, want.data() + c_offsets[i], n);
  expect_close(got.values(), want, static_cast<double>(k + 2), [](Index) { return 2.0 * k; });
}

// A product of a batch is computed by one thread, whichever it is.
TEST(Gemm, BatchDoesNotDependOnTheThreads) {
  constexpr Index batch = 8, m = 40, n = 48, k = 56;
  const std::vector<Real> a = normal_values(batch * m * k, 8), b = normal_values(batch * k * n, 9);
  std::vector<Index> a_offsets, b_offsets, c_offsets;
  for (Index i = 0; i < batch; ++i)
    a_offsets.push_back(i * m * k), b_offsets.push_back(i * k * n), c_offsets.push_back(i * m * n);
  expect_same_on_any_thread_count([&] {
    std::vector<Real> c(static_cast<std::size_t>(batch * m * n));
    gemm_batch(batch, m, n, k, 1, {a.data(), k}, {b.data(), n}, 0, c.data(), n,
               {a_offsets.data(), b_offsets.data(), c_offsets.data()});
    return c;
  });
}

}  // namespace
}  // namespace heed::kernels
