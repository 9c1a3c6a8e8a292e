#include "heed/kernels/int8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/kernels/ref/int8.h"
#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

// Weights as they are multiplied, of numbers that are there already.
struct PackedWeights {
  Index inputs, outputs;
  std::vector<std::int8_t> rows, panels;  // rows: [outputs, inputs]
  std::vector<Real> scales;

  PackedWeights(Index in, Index out, std::uint64_t seed)
      : inputs(in),
        outputs(out),
        rows(static_cast<std::size_t>(in * out)),
        panels(static_cast<std::size_t>(Int8Panels::bytes(in, out))) {
    const std::vector<Real> values = normal_values(in * out, seed);
    for (Index j = 0; j < out; ++j) scales.push_back(int8_round(in, values.data() + j * in, rows.data() + j * in));
    int8_pack(in, out, {rows.data(), 1, in}, panels.data());
  }
  Int8Panels weights() const { return {inputs, outputs, panels.data(), scales.data()}; }
};

// Rows as they are multiplied.
struct QuantisedRows {
  std::vector<std::uint8_t> data;
  std::vector<Real> scales;
  Index rows;

  QuantisedRows(Index count, Index inputs, const Real* x, Index stride)
      : data(static_cast<std::size_t>(count * Int8Panels::quads(inputs) * kInt8Quad)),
        scales(static_cast<std::size_t>(count)),
        rows(count) {
    int8_quantise(count, inputs, x, stride, data.data(), scales.data());
  }
  Int8Rows get() const { return {rows, data.data(), scales.data()}; }
};

TEST(Int8, RoundsToTheNearestOf255Numbers) {
  const Real values[] = {Real(-2), Real(1), Real(0.5), Real(-0.007), 0};
  std::int8_t rounded[5];
  const Real scale = int8_round(5, values, rounded);
  EXPECT_EQ(scale, Real(2) / 127);
  EXPECT_EQ(std::vector<int>(rounded, rounded + 5), (std::vector<int>{-127, 64, 32, 0, 0}));
  const Real tiny[] = {std::numeric_limits<Real>::denorm_min() * 200, 0};  // one over its scale is no number
  EXPECT_LT(int8_round(2, tiny, rounded), std::numeric_limits<Real>::min());
  EXPECT_EQ(rounded[0], 0);
  const Real nothing[] = {0, 0};
  EXPECT_EQ(int8_round(2, nothing, rounded), 0);
  EXPECT_EQ(rounded[0], 0);
}

TEST(Int8, WeightsArePackedAsTheirTwinDoes) {
  on_every_target([] {
    for (const Index inputs : {1, 3, 4, 17, 32})
      for (const Index outputs : {1, 15, 16, 33}) {
        const std::vector<std::int8_t> rows = PackedWeights(inputs, outputs, 1).rows;
        std::vector<std::int8_t> columns(rows.size()), apart(2 * rows.size());
        for (Index k = 0; k < inputs; ++k)
          for (Index j = 0; j < outputs; ++j) {
            const std::int8_t number = rows[static_cast<std::size_t>(j * inputs + k)];
            columns[static_cast<std::size_t>(k * outputs + j)] = number;
            apart[static_cast<std::size_t>(2 * (k * outputs + j))] = number;
          }
        const auto bytes = static_cast<std::size_t>(Int8Panels::bytes(inputs, outputs));
        std::vector<std::int8_t> want(bytes);
        ref::int8_pack(inputs, outputs, {rows.data(), 1, inputs}, want.data());
        for (const Int8Matrix& q : {Int8Matrix{rows.data(), 1, inputs}, Int8Matrix{columns.data(), outputs, 1},
                                    Int8Matrix{apart.data(), 2 * outputs, 2}}) {
          std::vector<std::int8_t> got(bytes);
          int8_pack(inputs, outputs, q, got.data());
          ASSERT_EQ(got, want) << inputs << " inputs, " << outputs << " outputs, " << q.input << " apart";
        }
      }
  });
}

TEST(Int8, PackedWeightsAreUnpackedAgain) {
  for (const Index inputs : {1, 3, 4, 17})
    for (const Index outputs : {1, 15, 16, 33}) {
      const PackedWeights packed(inputs, outputs, 1);
      std::vector<std::int8_t> row(static_cast<std::size_t>(inputs));
      for (Index j = 0; j < outputs; ++j) {
        int8_unpack(packed.weights(), j, row.data());
        EXPECT_TRUE(std::equal(row.begin(), row.end(), packed.rows.begin() + j * inputs)) << inputs << ' ' << j;
      }
    }
}

TEST(Int8, RowsAreQuantisedAsTheirTwinDoes) {
  on_every_target([] {
    for (const Index inputs : awkward_lengths()) {
      if (inputs == 0) continue;
      constexpr Index kRows = 3;
      for (const Place place : kPlaces) {
        const Buffer x(normal_values(kRows * inputs, 2, 3), place);
        const Index bytes = kRows * Int8Panels::quads(inputs) * kInt8Quad;
        const Guarded<std::uint8_t> got(bytes, place), want(bytes, place);
        const Buffer got_scales(kRows, place), want_scales(kRows, place);
        int8_quantise(kRows, inputs, x.data(), inputs, got.data(), got_scales.data());
        ref::int8_quantise(kRows, inputs, x.data(), inputs, want.data(), want_scales.data());
        EXPECT_EQ(got.values(), want.values()) << inputs;
        expect_same(got_scales.values(), want_scales.values());
      }
    }
  });
}

TEST(Int8, ProductsAreTheirTwinsOnEveryTarget) {
  on_every_target([] {
    for (const Index rows : {1, 2, 5, 6, 7, 20, 41})
      for (const Index inputs : {1, 4, 31, 130})
        for (const Index outputs : {1, 16, 63, 64, 149})
          for (const bool add : {false, true}) {
            const PackedWeights packed(inputs, outputs, 3);
            const std::vector<Real> values = normal_values(rows * inputs, 4);
            const QuantisedRows x(rows, inputs, values.data(), inputs);
            for (const auto& [begin, end] :
                 {std::pair<Index, Index>{0, outputs}, {outputs / 3, outputs - outputs / 5}}) {
              const Index width = end - begin, stride = width + 3;
              const Buffer got(normal_values(rows * stride, 5), Place::at_fence),
                  want(normal_values(rows * stride, 5), Place::at_fence);
              int8_product(x.get(), packed.weights(), begin, end, add, got.data(), stride);
              ref::int8_product(x.get(), packed.weights(), begin, end, add, want.data(), stride);
              expect_close(got.values(), want.values(), 2, [&](Index) { return Real(40); });
            }
          }
  });
}

// What is lost by rounding is at most half a step on either side.
TEST(Int8, ProductsAreNearThoseOfTheNumbers) {
  constexpr Index kRows = 5, kInputs = 256, kOutputs = 40;
  const std::vector<Real> x = normal_values(kRows * kInputs, 6), w = normal_values(kInputs * kOutputs, 3);
  const PackedWeights packed(kInputs, kOutputs, 3);
  const QuantisedRows rows(kRows, kInputs, x.data(), kInputs);
  std::vector<Real> y(kRows * kOutputs);
  int8_product(rows.get(), packed.weights(), 0, kOutputs, false, y.data(), kOutputs);
  for (Index i = 0; i < kRows; ++i)
    for (Index j = 0; j < kOutputs; ++j) {
      double sum = 0, bound = 0;
      for (Index k = 0; k < kInputs; ++k) {
        const double a = static_cast<double>(x[static_cast<std::size_t>(i * kInputs + k)]),
                     b = static_cast<double>(w[static_cast<std::size_t>(j * kInputs + k)]);
        const double da = static_cast<double>(rows.scales[static_cast<std::size_t>(i)]) / 2,
                     db = static_cast<double>(packed.scales[static_cast<std::size_t>(j)]) / 2;
        sum += a * b;
        bound += std::abs(a) * db + std::abs(b) * da + da * db;
      }
      EXPECT_NEAR(static_cast<double>(y[static_cast<std::size_t>(i * kOutputs + j)]), sum, bound * 1.01);
      EXPECT_NEAR(static_cast<double>(y[static_cast<std::size_t>(i * kOutputs + j)]), sum, 1.0);
    }
}

TEST(Int8, RowsAreTheSameAloneAndTogether) {
  constexpr Index kRows = 70, kInputs = 300, kOutputs = 1100;
  const PackedWeights packed(kInputs, kOutputs, 7);
  const std::vector<Real> values = normal_values(kRows * kInputs, 8);
  const std::vector<Real> before = normal_values(kRows * kOutputs, 11);
  for (const bool add : {false, true}) {
    const auto product = [&](Index first, Index count, Real* y) {
      const QuantisedRows x(count, kInputs, values.data() + first * kInputs, kInputs);
      int8_product(x.get(), packed.weights(), 0, kOutputs, add, y, kOutputs);
    };
    std::vector<Real> together = before, alone = before;
    product(0, kRows, together.data());
    for (Index row = 0; row < kRows; ++row) product(row, 1, alone.data() + row * kOutputs);
    expect_same(together, alone);
    expect_same_on_any_thread_count([&] {
      std::vector<Real> y = before;
      product(0, kRows, y.data());
      return y;
    });
  }
}

TEST(Int8, NotFiniteRowsAreSeenInTheirResultsOnly) {
  constexpr Index kInputs = 20, kOutputs = 18;
  const PackedWeights packed(kInputs, kOutputs, 9);
  std::vector<Real> values = normal_values(3 * kInputs, 10);
  values[3] = std::numeric_limits<Real>::quiet_NaN();
  values[kInputs + 7] = std::numeric_limits<Real>::infinity();
  const QuantisedRows x(3, kInputs, values.data(), kInputs);
  std::vector<Real> y(3 * kOutputs);
  int8_product(x.get(), packed.weights(), 0, kOutputs, false, y.data(), kOutputs);
  for (Index j = 0; j < kOutputs; ++j) {
    EXPECT_FALSE(std::isfinite(y[static_cast<std::size_t>(j)]));
    EXPECT_FALSE(std::isfinite(y[static_cast<std::size_t>(kOutputs + j)]));
    EXPECT_TRUE(std::isfinite(y[static_cast<std::size_t>(2 * kOutputs + j)]));
  }
}

}  // namespace
}  // namespace heed::kernels
