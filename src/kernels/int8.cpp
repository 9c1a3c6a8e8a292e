#include "heed/kernels/int8.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "heed/base/signal_stack.h"
#include "heed/base/threads.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/int8_x86-inl.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/int8.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// What numbers are multiplied by to be rounded; 0 where that is no number, or one of no use.
HWY_INLINE Real factor_of(Real scale) {
  const Real factor = 1 / scale;
  return std::isfinite(scale) && std::isfinite(factor) ? factor : Real{0};
}

// 16 whole numbers are a panel's outputs: at most this many of them per vector.
using D32 = hn::CappedTag<std::int32_t, kInt8Panel>;
using V32 = hn::Vec<D32>;
constexpr Index kVectors = kInt8Panel / static_cast<Index>(hn::MaxLanes(D32()));  // of a panel

#if HWY_TARGET == HWY_SCALAR
// sum + Σ of four products: bytes of x less 128, by weights.
HWY_INLINE V32 add_products(V32 sum, std::uint32_t quad, V32 weights) {
  for (int i = 0; i < 4; ++i) {
    const auto number = static_cast<std::int32_t>(quad >> (8 * i) & 255U) - 128;
    const auto weight = static_cast<std::int8_t>(static_cast<std::uint32_t>(weights.raw) >> (8 * i) & 255U);
    sum.raw += number * weight;
  }
  return sum;
}
#else
// a_0 b_0 + a_1 b_1 of the two numbers of 16 bits in every lane.
HWY_INLINE V32 sum_of_pairs(V32 a, V32 b) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return V32{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return V32{_mm256_madd_epi16(a.raw, b.raw)};
#else
  const auto low = [](V32 x) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(x)); };
  const auto high = [](V32 x) HWY_ATTR { return hn::ShiftRight<16>(x); };
  return hn::Add(hn::Mul(low(a), low(b)), hn::Mul(high(a), high(b)));
#endif
}
// sum + Σ of four products: bytes of x less 128, by weights. The first and third come together, and the second and
// fourth.
HWY_INLINE V32 add_products(V32 sum, std::uint32_t quad, V32 weights) {
  const auto pair = [quad](int first) {
    const auto number = [quad](int i) { return (quad >> (8 * i) & 255U) - 128U; };
    return static_cast<std::int32_t>((number(first) & 0xffffU) | number(first + 2) << 16);
  };
  const hn::Repartition<std::int16_t, D32> d16;
  const auto halves = hn::BitCast(d16, weights);
  const auto even = hn::BitCast(D32(), hn::ShiftRight<8>(hn::ShiftLeft<8>(halves)));
  const auto odd = hn::BitCast(D32(), hn::ShiftRight<8>(halves));
  sum = hn::Add(sum, sum_of_pairs(even, hn::Set(D32(), pair(0))));
  return hn::Add(sum, sum_of_pairs(odd, hn::Set(D32(), pair(1))));
}
#endif

// Σ_k p q of kRows rows with the outputs of one panel.
template <Index kRows>
void panel_of_rows(const std::uint8_t* x, Index quads, const std::int8_t* panel, std::int32_t* sums) {
  const Index lanes32 = static_cast<Index>(hn::Lanes(D32()));
  V32 partial[kRows * kVectors];
  HWY_UNROLL(24)
  for (V32& sum : partial) sum = hn::Zero(D32());
  for (Index quad = 0; quad < quads; ++quad) {
    HWY_UNROLL(4)
    for (Index v = 0; v < kVectors; ++v) {
      const auto* const at = reinterpret_cast<const std::int32_t*>(panel) + (1 + quad) * kInt8Panel + v * lanes32;
      const V32 weights = hn::LoadU(D32(), at);
      HWY_UNROLL(4)
      for (Index i = 0; i < kRows; ++i) {
        std::uint32_t row;
        std::memcpy(&row, x + (i * quads + quad) * kInt8Quad, sizeof row);
        partial[i * kVectors + v] = add_products(partial[i * kVectors + v], row, weights);
      }
    }
  }
  HWY_UNROLL(4)
  for (Index i = 0; i < kRows; ++i) {
    HWY_UNROLL(4)
    for (Index v = 0; v < kVectors; ++v)
      hn::StoreU(partial[i * kVectors + v], D32(), sums + i * kInt8Panel + v * lanes32);
  }
}

void product_of_panels(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, Real* y,
                       Index stride) {
  constexpr Index kMostRows = 4;
  constexpr decltype(&panel_of_rows<1>) kKernels[] = {panel_of_rows<1>, panel_of_rows<2>, panel_of_rows<3>,
                                                      panel_of_rows<4>};
  const Index quads = Int8Panels::quads(weights.inputs), panel = Int8Panels::panel_bytes(weights.inputs);
  HWY_ALIGN std::int32_t sums[kMostRows * kInt8Panel];
  for (Index at = begin / kInt8Panel * kInt8Panel; at < end; at += kInt8Panel)
    for (Index i = 0; i < x.rows; i += kMostRows) {
      const Index rows = std::min(kMostRows, x.rows - i);
      kKernels[rows - 1](x.data + i * quads * kInt8Quad, quads, weights.data + at / kInt8Panel * panel, sums);
      for (Index row = 0; row < rows; ++row)
        for (Index j = std::max(begin, at); j < std::min(end, at + kInt8Panel); ++j) {
          const auto sum = static_cast<Real>(sums[row * kInt8Panel + j - at]);
          const Real value = sum * (x.scales[i + row] * weights.scales[j]);
          Real& out = y[(i + row) * stride + j - begin];
          out = add ? out + value : value;
        }
    }
}

// One panel of at most 16 outputs; `zeros` has a byte for each of its inputs.
void pack_panel(Index inputs, Index outputs, const Int8Matrix& q, const std::uint8_t* zeros, std::int8_t* panel) {
  constexpr Index kBytes = kInt8Panel * kInt8Quad;
  const Index quads = Int8Panels::quads(inputs), whole = inputs / kInt8Quad;
  std::int8_t* const first = panel + kBytes;
  std::memset(first, 0, static_cast<std::size_t>(quads * kBytes));
  Index quad = 0;  // those before are packed
#if HWY_TARGET != HWY_SCALAR
  if (q.output == 1 && outputs == kInt8Panel) {
    const hn::Full128<std::int8_t> bytes;
    for (; quad < whole; ++quad) {
      const auto input = [&](Index i) HWY_ATTR { return hn::LoadU(bytes, q.data + (quad * kInt8Quad + i) * q.input); };
      hn::StoreInterleaved4(input(0), input(1), input(2), input(3), bytes, first + quad * kBytes);
    }
  }
#endif
  if (q.input == 1)
    for (; quad < whole; ++quad)
      for (Index j = 0; j < outputs; ++j)
        std::memcpy(first + quad * kBytes + j * kInt8Quad, q.data + quad * kInt8Quad + j * q.output, kInt8Quad);
  for (Index k = quad * kInt8Quad; k < inputs; ++k)
    for (Index j = 0; j < outputs; ++j)
      first[k / kInt8Quad * kBytes + j * kInt8Quad + k % kInt8Quad] = q.data[k * q.input + j * q.output];
  HWY_ALIGN std::int32_t sums[kInt8Panel];
  panel_of_rows<1>(zeros, quads, panel, sums);  // a byte of zero stands for -128
  std::memcpy(panel, sums, sizeof sums);
}

// The row's scale; p + 128 goes to `to`.
Real quantised_row(Index count, const Real* from, std::uint8_t* to) {
  V most = set(0), others = most;  // by turns: neither waits for the other
  for_each_vector(
      count,
      [&](Index i) HWY_ATTR {
        most = larger(most, hn::Abs(load(from + i)));
        std::swap(most, others);
      },
      [&](Index i, Index rest) HWY_ATTR { most = larger(most, hn::Abs(load_part(from + i, rest))); });
  const Real scale = max_lanes(larger(most, others)) / 127;
  const V factor = hn::Set(D(), factor_of(scale));
  const hn::RebindToSigned<D> signed_numbers;
  HWY_ALIGN hn::TFromD<hn::RebindToSigned<D>> whole[hn::MaxLanes(D())];
  const auto rounded = [&](V x) HWY_ATTR {
    // Added to a number, rounds it to a whole one, to even where two are as near.
    const V shift = set(kFloat ? 0x1.8p23 : 0x1.8p52);
    const V near = hn::Sub(hn::Add(hn::Mul(x, factor), shift), shift);
    return hn::ConvertTo(signed_numbers, hn::Add(near, set(128)));
  };
  const auto write = [&](V x, Index i, Index n) HWY_ATTR {
    hn::Store(rounded(x), signed_numbers, whole);
    for (Index j = 0; j < n; ++j) to[i + j] = static_cast<std::uint8_t>(whole[j]);
  };
  for_each_vector(
      count,
      [&](Index i) HWY_ATTR {
#ifdef HEED_DOUBLE
        write(load(from + i), i, lanes());
#else
        const hn::Rebind<std::uint8_t, D> bytes;
        hn::StoreU(hn::DemoteTo(bytes, rounded(load(from + i))), bytes, to + i);
#endif
      },
      [&](Index i, Index rest) HWY_ATTR { write(load_part(from + i, rest), i, rest); });
  return scale;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(pack_panel);
HWY_EXPORT(product_of_panels);
HWY_EXPORT(quantised_row);

#if HWY_ARCH_X86 && !defined(HEED_DOUBLE)
namespace {

// With VNNI one instruction multiplies and sums four bytes for each of 16 outputs.
constexpr Index kVnniRows = 6, kVnniPanels = 4;  // side by side: the sums stay in registers

// y of kRows rows and kPanels panels. `first` and `last` bound the outputs that are written.
template <Index kRows, Index kPanels>
HEED_VNNI void vnni_tile(const std::uint8_t* x, const float* x_scales, Index quads, const std::int8_t* panels,
                         const float* scales, Index first, Index last, bool add, float* y, Index stride) {
  constexpr Index kBytes = kInt8Panel * kInt8Quad;
  const Index panel = (quads + 1) * kBytes;
  __m512i sums[kRows][kPanels];
#pragma GCC unroll 6
  for (Index i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (Index p = 0; p < kPanels; ++p)  // x has 128 too much: what that adds is taken away
      sums[i][p] = _mm512_loadu_si512(panels + p * panel);
  for (Index quad = 0; quad < quads; ++quad) {
    __m512i right[kPanels];
#pragma GCC unroll 4
    for (Index p = 0; p < kPanels; ++p) right[p] = _mm512_loadu_si512(panels + p * panel + (1 + quad) * kBytes);
#pragma GCC unroll 6
    for (Index i = 0; i < kRows; ++i) {
      int row;
      std::memcpy(&row, x + (i * quads + quad) * kInt8Quad, sizeof row);
      const __m512i left = _mm512_set1_epi32(row);
#pragma GCC unroll 4
      for (Index p = 0; p < kPanels; ++p) sums[i][p] = _mm512_dpbusd_epi32(sums[i][p], left, right[p]);
    }
  }
#pragma GCC unroll 4
  for (Index p = 0; p < kPanels; ++p) {
    const PanelPart part(p, first, last);
    if (part.empty()) continue;
    const __m512 scale = _mm512_maskz_loadu_ps(part.mask(), scales + p * kInt8Panel);
#pragma GCC unroll 6
    for (Index i = 0; i < kRows; ++i)
      write_outputs(sums[i][p], x_scales[i], scale, part.mask(), add, y + i * stride + p * kInt8Panel - first);
  }
}

void vnni_product(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, float* y,
                  Index stride) {
  using Tile = decltype(&vnni_tile<1, 1>);
  static constexpr Tile kWide[] = {vnni_tile<1, kVnniPanels>, vnni_tile<2, kVnniPanels>, vnni_tile<3, kVnniPanels>,
                                   vnni_tile<4, kVnniPanels>, vnni_tile<5, kVnniPanels>, vnni_tile<6, kVnniPanels>};
  static constexpr Tile kNarrow[] = {vnni_tile<1, 1>, vnni_tile<2, 1>, vnni_tile<3, 1>,
                                     vnni_tile<4, 1>, vnni_tile<5, 1>, vnni_tile<6, 1>};
  const Index quads = Int8Panels::quads(weights.inputs), panel = Int8Panels::panel_bytes(weights.inputs);
  const Index groups = (x.rows + kVnniRows - 1) / kVnniRows, group = (x.rows + groups - 1) / groups;
  const Index last_panel = (end + kInt8Panel - 1) / kInt8Panel;
  for (Index p = begin / kInt8Panel; p < last_panel;) {
    const Index many = last_panel - p >= kVnniPanels ? kVnniPanels : 1, at = p * kInt8Panel;
    const Index first = std::max<Index>(0, begin - at), last = std::min(many * kInt8Panel, end - at);
    const Tile* const tiles = many > 1 ? kWide : kNarrow;
    for (Index i = 0; i < x.rows; i += group)
      tiles[std::min(group, x.rows - i) - 1](x.data + i * quads * kInt8Quad, x.scales + i, quads,
                                             weights.data + p * panel, weights.scales + at, first, last, add,
                                             y + i * stride + std::max<Index>(0, at - begin), stride);
    p += many;
  }
}

// Rows of x padded to whole tiles of AMX with zeros.
std::vector<std::uint8_t> amx_rows(const Int8Rows& x, Index inputs) {
  const Index from = Int8Panels::quads(inputs) * kInt8Quad, to = amx_row_bytes(inputs);
  std::vector<std::uint8_t> padded(static_cast<std::size_t>((x.rows + kAmxRows - 1) / kAmxRows * kAmxRows * to));
  for (Index row = 0; row < x.rows; ++row) std::copy_n(x.data + row * from, from, padded.data() + row * to);
  return padded;
}

// Fewer rows leave most of AMX's tiles empty.
constexpr Index kRowsForAmx = 8;

}  // namespace
#endif

Real int8_round(Index count, const Real* from, std::int8_t* to) {
  Real largest = 0;
  for (Index i = 0; i < count; ++i) {
    const Real size = std::abs(from[i]);
    if (std::isnan(size) || size > largest) largest = size;
  }
  const Real scale = largest / 127, factor = HWY_STATIC_DISPATCH(factor_of)(scale);
  for (Index i = 0; i < count; ++i)
    to[i] = factor == 0 ? std::int8_t{0} : static_cast<std::int8_t>(std::lrint(from[i] * factor));
  return scale;
}

void int8_pack(Index inputs, Index outputs, const Int8Matrix& q, std::int8_t* panels) {
  const Index panel_bytes = Int8Panels::panel_bytes(inputs);
  const std::vector<std::uint8_t> zeros(static_cast<std::size_t>(Int8Panels::quads(inputs) * kInt8Quad));
  parallel_for((outputs + kInt8Panel - 1) / kInt8Panel, 1 + (Index{1} << 18) / panel_bytes,
               [&](Index begin, Index end) {
                 for (Index p = begin; p < end; ++p) {
                   const Index at = p * kInt8Panel;
                   HWY_DYNAMIC_DISPATCH(pack_panel)
                   (inputs, std::min(kInt8Panel, outputs - at), {q.data + at * q.output, q.input, q.output},
                    zeros.data(), panels + p * panel_bytes);
                 }
               });
}

void int8_unpack(const Int8Panels& weights, Index output, std::int8_t* to) {
  const std::int8_t* const panel = weights.data + output / kInt8Panel * Int8Panels::panel_bytes(weights.inputs) +
                                   (kInt8Panel + output % kInt8Panel) * kInt8Quad;
  for (Index k = 0; k < weights.inputs; ++k) to[k] = panel[k / kInt8Quad * kInt8Panel * kInt8Quad + k % kInt8Quad];
}

void int8_quantise(Index rows, Index inputs, const Real* x, Index stride, std::uint8_t* quantised, Real* scales) {
  const Index width = Int8Panels::quads(inputs) * kInt8Quad;
  parallel_for(rows, 1 + (Index{1} << 16) / std::max<Index>(width, 1), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      scales[i] = HWY_DYNAMIC_DISPATCH(quantised_row)(inputs, x + i * stride, quantised + i * width);
      std::fill(quantised + i * width + inputs, quantised + (i + 1) * width, std::uint8_t{128});
    }
  });
}

void int8_product(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, Real* y,
                  Index stride) {
  if (x.rows == 0 || begin >= end) return;
  // What outweighs a thread's waking: of many rows the multiplications, of few the bytes that are read.
  constexpr Index kWork = Index{1} << 22, kRead = Index{1} << 18;
  const Index panel = kInt8Panel * std::max<Index>(weights.inputs, 1), first = begin / kInt8Panel;
  const Index grain = 1 + std::min(kRead, kWork / x.rows) / panel;
#if HWY_ARCH_X86 && !defined(HEED_DOUBLE)
  const bool tiles = x.rows >= kRowsForAmx && amx();
  const std::vector<std::uint8_t> padded = tiles ? amx_rows(x, weights.inputs) : std::vector<std::uint8_t>();
#endif
  parallel_for((end + kInt8Panel - 1) / kInt8Panel - first, grain, [&](Index from, Index to) {
    const Index left = std::max(begin, (first + from) * kInt8Panel), right = std::min(end, (first + to) * kInt8Panel);
#if HWY_ARCH_X86 && !defined(HEED_DOUBLE)
    if (tiles) {
      use_signal_stack();
      return amx_product({x.rows, padded.data(), x.scales}, weights, left, right, add, y + left - begin, stride);
    }
    if (vnni()) return vnni_product(x, weights, left, right, add, y + left - begin, stride);
#endif
    HWY_DYNAMIC_DISPATCH(product_of_panels)(x, weights, left, right, add, y + left - begin, stride);
  });
}

}  // namespace heed::kernels
#endif
