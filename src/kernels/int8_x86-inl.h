#pragma once

#include "heed/kernels/amx-inl.h"
#include "heed/kernels/int8.h"

// What the products of bytes of x86 share: instructions that Highway's targets do not have.

#if defined(__x86_64__) && !defined(HEED_DOUBLE)
#include <immintrin.h>

#define HEED_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace heed::kernels {

// Sixteen sums become outputs of a row, those of the mask.
HEED_VNNI inline void write_outputs(__m512i sums, float x_scale, __m512 scales, __mmask16 written, bool add,
                                    float* out) {
  const __m512 factor = _mm512_mul_ps(_mm512_set1_ps(x_scale), scales);
  const __m512 sum = _mm512_maskz_cvtepi32_ps(written, sums);
  // One rounding, said outright: the compiler would choose for each tile.
  const __m512 value =
      add ? _mm512_fmadd_ps(sum, factor, _mm512_maskz_loadu_ps(written, out)) : _mm512_mul_ps(sum, factor);
  _mm512_mask_storeu_ps(out, written, value);
}

// The outputs of panel p, counted from the first of a tile, that are among [first, last).
struct PanelPart {
  Index from, to;
  PanelPart(Index p, Index first, Index last)
      : from(first > p * kInt8Panel ? first - p * kInt8Panel : 0),
        to(last - p * kInt8Panel < kInt8Panel ? last - p * kInt8Panel : kInt8Panel) {}
  bool empty() const { return from >= to; }
  __mmask16 mask() const { return static_cast<__mmask16>((1U << to) - (1U << from)); }
};

// Outputs [begin, end) as int8_product gives them, by the calling thread alone, with AMX: tiles of 16 rows and 16
// outputs. The rows of x are padded to whole tiles with zeros.
void amx_product(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, float* y,
                 Index stride);
// The bytes of a padded row.
constexpr Index amx_row_bytes(Index inputs) { return (inputs + kAmxBytes - 1) / kAmxBytes * kAmxBytes; }

}  // namespace heed::kernels
#endif
