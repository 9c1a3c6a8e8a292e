#include "heed/kernels/ref/int8.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace heed::kernels::ref {

void int8_pack(Index inputs, Index outputs, const Int8Matrix& q, std::int8_t* panels) {
  constexpr Index kBytes = kInt8Panel * kInt8Quad;
  for (Index p = 0; p * kInt8Panel < outputs; ++p) {
    std::int8_t* const panel = panels + p * Int8Panels::panel_bytes(inputs);
    std::fill_n(panel, Int8Panels::panel_bytes(inputs), std::int8_t{0});
    std::int32_t sums[kInt8Panel] = {};
    for (Index j = 0; j < std::min(kInt8Panel, outputs - p * kInt8Panel); ++j)
      for (Index k = 0; k < inputs; ++k) {
        const std::int8_t weight = q.data[k * q.input + (p * kInt8Panel + j) * q.output];
        panel[(1 + k / kInt8Quad) * kBytes + j * kInt8Quad + k % kInt8Quad] = weight;
        sums[j] -= 128 * weight;
      }
    std::memcpy(panel, sums, sizeof sums);
  }
}

void int8_quantise(Index rows, Index inputs, const Real* x, Index stride, std::uint8_t* quantised, Real* scales) {
  const Index width = Int8Panels::quads(inputs) * kInt8Quad;
  for (Index i = 0; i < rows; ++i) {
    std::vector<std::int8_t> rounded(static_cast<std::size_t>(width), 0);
    scales[i] = int8_round(inputs, x + i * stride, rounded.data());
    for (Index k = 0; k < width; ++k)
      quantised[i * width + k] = static_cast<std::uint8_t>(rounded[static_cast<std::size_t>(k)] + 128);
  }
}

void int8_product(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, Real* y,
                  Index stride) {
  const Index width = Int8Panels::quads(weights.inputs) * kInt8Quad;
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = begin; j < end; ++j) {
      const std::int8_t* panel = weights.data + j / kInt8Panel * Int8Panels::panel_bytes(weights.inputs);
      std::int32_t sum = 0;
      for (Index k = 0; k < weights.inputs; ++k) {
        const Index place = (1 + k / kInt8Quad) * kInt8Panel * kInt8Quad + j % kInt8Panel * kInt8Quad + k % kInt8Quad;
        sum += (x.data[i * width + k] - 128) * panel[place];
      }
      Real& out = y[i * stride + j - begin];
      out = static_cast<Real>(sum) * (x.scales[i] * weights.scales[j]) + (add ? out : Real{0});
    }
  }
}

}  // namespace heed::kernels::ref
