// Per-target building blocks of products of few rows: a tile of sums that stay in registers.
// Included again for each SIMD target, hence the toggled guard.
#include <algorithm>
#include <array>
#include <utility>

#include <hwy/cache_control.h>

#include "heed/kernels/simd-inl.h"

#if defined(HEED_KERNELS_ROW_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ROW_TILES_INL_H_
#undef HEED_KERNELS_ROW_TILES_INL_H_
#else
#define HEED_KERNELS_ROW_TILES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Rows of B at a time: the sums stay in registers, of which x86 has 32 from AVX-512 on and 16 before.
constexpr Index kTile = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 2 : 4;

constexpr Index kLine = 64 / sizeof(Real);  // numbers that come from memory together

// Asks for what will be read, but not at once: the first cache is full of what is being used.
HWY_INLINE void to_second_cache(const Real* at) {
#if defined(__GNUC__)
  __builtin_prefetch(at, 0, 2);
#else
  hwy::Prefetch(at);
#endif
}

// Rows that a later call reads, each of kVectors vectors.
struct Later {
  const Real* rows = nullptr;  // null: none
  Index stride = 0;
};

// C = alpha A B + beta C for kRows rows of A and kVectors vectors of columns of B; of the last vector the first `part`
// columns only, if it is not 0. Leaves what it read of B in `packed`, row after row, if that is not null. kAhead:
// B comes from memory, so that what is read next is asked for, and has only these columns of the last vector. Without
// it B is in cache and all can be read, and memory is free to bring the first k / kVectors of the later rows meanwhile.
template <Index kRows, Index kVectors, bool kAhead>
void sums_of_columns(Index part, Index k, Real alpha, const Real* a, Index lda, const Real* b, Index ldb, Real beta,
                     Real* c, Index ldc, Real* packed, Later later) {
  constexpr Index kRowsAhead = 8;  // of B: the hardware does not look into another page for them
  const Index step = lanes();
  V sums[kRows * kVectors];
  HWY_UNROLL(24)
  for (V& sum : sums) sum = set(0);
  for (Index p = 0; p < k; ++p) {
    const Real* const row = b + p * ldb;
    V right[kVectors];
    HWY_UNROLL(4)
    for (Index v = 0; v < kVectors; ++v) {
      const bool cut = kAhead && v == kVectors - 1 && part != 0;
      right[v] = cut ? load_part(row + v * step, part) : load(row + v * step);
      if constexpr (kAhead) hwy::Prefetch(row + kRowsAhead * ldb + v * step);
    }
    if constexpr (kAhead) {
      if (packed) {
        HWY_UNROLL(4)
        for (Index v = 0; v < kVectors; ++v) store(right[v], packed + (p * kVectors + v) * step);
      }
    } else {
      if (later.rows) to_second_cache(later.rows + p / kVectors * later.stride + p % kVectors * step);
      // The next group's rows of A.
      if (p % kLine < kRows) hwy::Prefetch(a + (kRows + p % kLine) * lda + (p - p % kLine));
    }
    HWY_UNROLL(6)
    for (Index i = 0; i < kRows; ++i) {
      const V left = hn::Set(D(), a[i * lda + p]);
      HWY_UNROLL(4)
      for (Index v = 0; v < kVectors; ++v) sums[i * kVectors + v] = hn::MulAdd(left, right[v], sums[i * kVectors + v]);
    }
  }
  const V factor = hn::Set(D(), alpha), kept = hn::Set(D(), beta);
  HWY_UNROLL(6)
  for (Index i = 0; i < kRows; ++i) {
    HWY_UNROLL(4)
    for (Index v = 0; v < kVectors; ++v) {
      Real* const to = c + i * ldc + v * step;
      const bool cut = v == kVectors - 1 && part != 0;
      V sum = hn::Mul(factor, sums[i * kVectors + v]);
      if (beta != 0) sum = hn::MulAdd(kept, cut ? load_part(to, part) : load(to), sum);
      if (cut)
        store_part(sum, to, part);
      else
        store(sum, to);
    }
  }
}

constexpr Index kMostRows = 6;  // at a time
constexpr Index kManyRows = 32;
constexpr Index kDepth = 128;  // rows of B at a time: their pages are at hand from one tile of columns to the next

// sums_of_columns of so many rows and vectors.
using Tile = decltype(&sums_of_columns<1, 1, true>);
template <bool kAhead>
HWY_INLINE Tile tile_of(Index rows, Index vectors) {
  static constexpr auto kTiles = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Tile, sizeof...(i)>{sums_of_columns<i / kTile + 1, i % kTile + 1, kAhead>...};
  }
  (std::make_index_sequence<kMostRows * kTile>());
  return kTiles[static_cast<std::size_t>((rows - 1) * kTile + vectors - 1)];
}

// Rows are taken in groups of equal size, at most kMostRows.
Index group_of(Index m) {
  const Index groups = (m + kMostRows - 1) / kMostRows;
  return (m + groups - 1) / groups;
}

// Columns in tiles of nearly equal width, at most kTile vectors: a narrow one at the end would have too few sums for
// the processor's pipelines.
struct Tiles {
  Index columns, vectors, count;
  explicit Tiles(Index n) : columns(n), vectors((n + lanes() - 1) / lanes()), count((vectors + kTile - 1) / kTile) {}
  Index first(Index tile) const { return vectors * tile / count; }  // its first vector
  Index width(Index tile) const { return first(tile + 1) - first(tile); }
  Index part(Index tile) const { return tile + 1 == count ? columns % lanes() : 0; }  // as sums_of_columns has it
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
