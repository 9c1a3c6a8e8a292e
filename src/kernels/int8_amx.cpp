#include "heed/kernels/amx-inl.h"
#include "heed/kernels/int8_x86-inl.h"

#if defined(__x86_64__) && !defined(HEED_DOUBLE)
#include <algorithm>
#include <cstdint>

namespace heed::kernels {
namespace {

// One instruction multiplies 16 rows of 64 bytes of x by a panel's 16 quads for 16 outputs, just as panels are stored,
// and adds the sums of four products to 16 × 16 whole numbers.
#define HEED_AMX __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,amx-tile,amx-int8")))

constexpr Index kRowTiles = 2, kPanelTiles = 2;  // of sums at a time: tiles 0 to 3; 4 and 5 are rows, 6 and 7 panels
constexpr Index kSums = kAmxRows * kInt8Panel;   // of a tile

// Sums of 16 kRows rows with kPanels panels, without what x has too much, tile after tile.
template <Index kRows, Index kPanels>
HEED_AMX void sums_of_tiles(const std::uint8_t* x, Index row_bytes, const std::int8_t* panels, Index panel,
                            std::int32_t* sums) {
  const std::uint8_t* const other_rows = x + kAmxRows * row_bytes;
  const std::int8_t *left = panels + kAmxBytes, *right = left + panel;  // behind the panels' own sums
  _tile_zero(0);
  if constexpr (kPanels == 2) _tile_zero(1);
  if constexpr (kRows == 2) _tile_zero(2);
  if constexpr (kRows == 2 && kPanels == 2) _tile_zero(3);
  for (Index at = 0; at < row_bytes; at += kAmxBytes) {
    _tile_loadd(6, left + at * kInt8Panel, kAmxBytes);
    _tile_loadd(4, x + at, row_bytes);
    _tile_dpbusd(0, 4, 6);
    if constexpr (kPanels == 2) {
      _tile_loadd(7, right + at * kInt8Panel, kAmxBytes);
      _tile_dpbusd(1, 4, 7);
    }
    if constexpr (kRows == 2) {
      _tile_loadd(5, other_rows + at, row_bytes);
      _tile_dpbusd(2, 5, 6);
      if constexpr (kPanels == 2) _tile_dpbusd(3, 5, 7);
    }
  }
  _tile_stored(0, sums, kAmxBytes);
  if constexpr (kPanels == 2) _tile_stored(1, sums + kSums, kAmxBytes);
  if constexpr (kRows == 2) _tile_stored(2, sums + 2 * kSums, kAmxBytes);
  if constexpr (kRows == 2 && kPanels == 2) _tile_stored(3, sums + 3 * kSums, kAmxBytes);
  memory_is_used();
}

}  // namespace

HEED_AMX void amx_product(const Int8Rows& x, const Int8Panels& weights, Index begin, Index end, bool add, float* y,
                          Index stride) {
  using Tiles = decltype(&sums_of_tiles<1, 1>);
  static constexpr Tiles kTiles[kRowTiles][kPanelTiles] = {{sums_of_tiles<1, 1>, sums_of_tiles<1, 2>},
                                                           {sums_of_tiles<2, 1>, sums_of_tiles<2, 2>}};
  const Index panel = Int8Panels::panel_bytes(weights.inputs), row_bytes = amx_row_bytes(weights.inputs);
  const Index last_panel = (end + kInt8Panel - 1) / kInt8Panel;
  alignas(64) std::int32_t sums[kRowTiles * kPanelTiles * kSums];
  const TileShapes shapes;
  memory_is_used();
  _tile_loadconfig(&shapes);
  for (Index p = begin / kInt8Panel; p < last_panel; p += kPanelTiles) {
    const Index panels = std::min(kPanelTiles, last_panel - p), at = p * kInt8Panel;
    const Index first = std::max<Index>(0, begin - at), last = std::min(panels * kInt8Panel, end - at);
    for (Index i = 0; i < x.rows; i += kRowTiles * kAmxRows) {
      const Index tiles = x.rows - i > kAmxRows ? 2 : 1;
      kTiles[tiles - 1][panels - 1](x.data + i * row_bytes, row_bytes, weights.data + p * panel, panel, sums);
      for (Index j = 0; j < panels; ++j) {
        const PanelPart part(j, first, last);
        if (part.empty()) continue;
        const __m512 scales = _mm512_maskz_loadu_ps(part.mask(), weights.scales + at + j * kInt8Panel);
        const __m512i too_much = _mm512_loadu_si512(weights.data + (p + j) * panel);
        float* const out = y + std::max<Index>(0, at - begin) + j * kInt8Panel - first;
        for (Index row = i; row < std::min(x.rows, i + tiles * kAmxRows); ++row) {
          const Index tile = (row - i) / kAmxRows * kPanelTiles + j;
          const __m512i sum = _mm512_load_si512(sums + tile * kSums + (row - i) % kAmxRows * kInt8Panel);
          write_outputs(_mm512_add_epi32(sum, too_much), x.scales[row], scales, part.mask(), add, out + row * stride);
        }
      }
    }
  }
  _tile_release();
}

}  // namespace heed::kernels
#endif
