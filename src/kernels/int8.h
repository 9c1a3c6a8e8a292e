#pragma once

#include <cstdint>

#include "heed/base/real.h"

namespace heed::kernels {

// Products with weights of eight bits. Output j of W [inputs, outputs] has a scale of its own, and each row of x gets
// one when it is multiplied:
//   W[k, j] ≈ s_j q[k, j],  x[i, k] ≈ t_i p[i, k],  q, p ∈ {-127 .. 127}
//   y[i, j] = t_i s_j Σ_k p[i, k] q[k, j]
// The sum is of whole numbers, hence exact: a row's result does not depend on the rows beside it, on the number of
// threads or on the instructions that there are.

// Weights as the products read them: panels of 16 outputs, each with four inputs after the other for every output;
// what is beyond the matrix is zero. A panel begins with 16 numbers of four bytes: -128 times the sum of each output's
// weights.
constexpr Index kInt8Panel = 16, kInt8Quad = 4;
struct Int8Panels {
  Index inputs, outputs;
  const std::int8_t* data;
  const Real* scales;  // [outputs]

  static Index quads(Index inputs) { return (inputs + kInt8Quad - 1) / kInt8Quad; }
  static Index panel_bytes(Index inputs) { return kInt8Panel * kInt8Quad * (quads(inputs) + 1); }
  // With some behind the last panel: where x is zero, products may read on.
  static Index bytes(Index inputs, Index outputs) {
    return (outputs + kInt8Panel - 1) / kInt8Panel * panel_bytes(inputs) + kReadOn;
  }
  static constexpr Index kReadOn = 15 * kInt8Panel * kInt8Quad;
};

// Rounds a row of numbers to {-127 .. 127} times the scale that is returned: the largest of them over 127. An infinity
// or NaN makes the scale one.
Real int8_round(Index count, const Real* from, std::int8_t* to);
// Panels of q, whose number for input k and output j is q.data[k · q.input + j · q.output], into Int8Panels::bytes of
// memory.
struct Int8Matrix {
  const std::int8_t* data;
  Index input, output;  // distances
};
void int8_pack(Index inputs, Index outputs, const Int8Matrix& q, std::int8_t* panels);
// The weights of one output as they were packed: to[k] = q[k, j].
void int8_unpack(const Int8Panels& weights, Index output, std::int8_t* to);

// Rows of x as the products read them: p + 128, in Int8Panels::quads(inputs) quads of bytes; what is beyond the row is
// 128. `scales` [rows].
void int8_quantise(Index rows, Index inputs, const Real* x, Index stride, std::uint8_t* quantised, Real* scales);

// Outputs [begin, end) of y = x W, or y = y + x W where `add` is set; y points at output `begin` of the first row.
struct Int8Rows {
  Index rows;
  const std::uint8_t* data;
  const Real* scales;
};
void int8_product(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, Real* y,
                  Index stride);

}  // namespace heed::kernels
