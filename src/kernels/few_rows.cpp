#include "heed/kernels/few_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/few_rows.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Columns [begin, end) of C = alpha A B + beta C. Each element is summed in the same order whatever m, begin and end
// are.
void few_rows(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  HWY_ALIGN Real packed[kDepth * kTile * static_cast<Index>(hn::MaxLanes(D()))];  // a tile for the next groups
  const Index group = group_of(m), step = lanes();
  const Tiles tiles(end - begin);
  const auto product = [&](Index p, Index tile, Index next_p, Index next_tile) HWY_ATTR {
    const Index depth = std::min(kDepth, k - p), next_depth = std::min(kDepth, k - next_p), width = tiles.width(tile),
                j = begin + tiles.first(tile) * step, next_j = begin + tiles.first(next_tile) * step;
    Index asked = 0;  // rows of the next tile
    for (Index i = 0; i < m; i += group) {
      const Index rows = std::min(group, m - i);
      const bool again = i > 0, once = rows == m, ahead = again && next_tile < tiles.count && asked < next_depth;
      (again ? tile_of<false>(rows, width) : tile_of<true>(rows, width))(
          tiles.part(tile), depth, alpha, a.data + i * a.stride + p, a.stride,
          again ? packed : b.data + p * b.stride + j, again ? width * step : b.stride, p == 0 ? beta : Real{1},
          c + i * ldc + j, ldc, again || once ? nullptr : packed,
          ahead ? Later{b.data + (next_p + asked) * b.stride + next_j, b.stride} : Later{});
      if (ahead) asked += depth / width;
    }
  };
  // Of few rows the pages of B are what counts, of many the rows of C that a tile has.
  if (m <= kManyRows) {
    for (Index p = 0; p < k; p += kDepth)
      for (Index tile = 0; tile < tiles.count; ++tile)
        tile + 1 < tiles.count ? product(p, tile, p, tile + 1) : product(p, tile, p + kDepth, 0);
  } else {
    for (Index tile = 0; tile < tiles.count; ++tile)
      for (Index p = 0; p < k; p += kDepth)
        p + kDepth < k ? product(p, tile, p + kDepth, tile) : product(p, tile, 0, tile + 1);
  }
}

// B as products of few rows read it: tile after tile, in each row after row, whole vectors.
void pack_tiles(Index n, Index k, Matrix b, Real* packed) {
  constexpr Index kSide = 16;  // of a transposed B: squares as wide as a cache line, so that every line is read once
  const Index step = lanes();
  const Tiles tiles(n);
  for (Index tile = 0; tile < tiles.count; ++tile) {
    const Index first = tiles.first(tile) * step, width = tiles.width(tile) * step,
                columns = std::min(width, n - first);
    for (Index p = 0; p < k; ++p) std::fill_n(packed + p * width + columns, width - columns, Real{0});
    if (b.transposed) {
      for (Index left = 0; left < columns; left += kSide)
        for (Index top = 0; top < k; top += kSide)
          for (Index p = top; p < std::min(k, top + kSide); ++p)
            for (Index j = left; j < std::min(columns, left + kSide); ++j)
              packed[p * width + j] = b.data[(first + j) * b.stride + p];
    } else {
      for (Index p = 0; p < k; ++p) std::copy_n(b.data + p * b.stride + first, columns, packed + p * width);
    }
    packed += k * width;
  }
}
Index tiles_of(Index n) { return Tiles(n).count; }
Index packed_columns(Index n) { return Tiles(n).vectors * lanes(); }

// Tiles [begin, end) of C = A B + beta C, B packed. Sums are those of few_rows, bit for bit.
void few_rows_packed(Index begin, Index end, Index m, Index n, Index k, const Real* a, Index lda, const Real* packed,
                     Real beta, Real* c, Index ldc) {
  const Index group = group_of(m), step = lanes();
  const Tiles tiles(n);
  for (Index tile = begin; tile < end; ++tile) {
    const Index first = tiles.first(tile) * step, width = tiles.width(tile);
    for (Index p = 0; p < k; p += kDepth)
      for (Index i = 0; i < m; i += group)
        tile_of<false>(std::min(group, m - i), width)(
            tiles.part(tile), std::min(kDepth, k - p), 1, a + i * lda + p, lda, packed + first * k + p * width * step,
            width * step, p == 0 ? beta : Real{1}, c + i * ldc + first, ldc, nullptr, Later{});
  }
}

#if HWY_TARGET == HWY_AVX3 && !defined(HEED_DOUBLE)
// Numbers p to p + 3 of 16 rows of B become four vectors of 16: four numbers of four rows are put together as they are
// read, then blocks of 4 × 4 are turned.
HWY_INLINE void turn(const float* const* rows, Index p, __m512* turned) {
  __m512 four[4];  // of rows i, 4 + i, 8 + i and 12 + i
  HWY_UNROLL(4)
  for (Index i = 0; i < 4; ++i) {
    const auto read = [&](Index row) HWY_ATTR { return _mm_loadu_ps(rows[row + i] + p); };
    four[i] = _mm512_castps128_ps512(read(0));
    four[i] = _mm512_mask_broadcast_f32x4(four[i], 0x00f0, read(4));
    four[i] = _mm512_mask_broadcast_f32x4(four[i], 0x0f00, read(8));
    four[i] = _mm512_mask_broadcast_f32x4(four[i], 0xf000, read(12));
  }
  const __m512d low = _mm512_castps_pd(_mm512_unpacklo_ps(four[0], four[1])),
                low2 = _mm512_castps_pd(_mm512_unpacklo_ps(four[2], four[3])),
                high = _mm512_castps_pd(_mm512_unpackhi_ps(four[0], four[1])),
                high2 = _mm512_castps_pd(_mm512_unpackhi_ps(four[2], four[3]));
  turned[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, low2));
  turned[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, low2));
  turned[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high, high2));
  turned[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high, high2));
}

constexpr Index kTurned = 16;  // rows of B that become one vector

// 16 rows of B that begin at `first`; of the last ones, those that are there and the last again.
HWY_INLINE void rows_to_turn(Matrix b, Index first, Index end, const float** rows) {
  for (Index j = 0; j < kTurned; ++j) rows[j] = b.data + std::min(first + j, end - 1) * b.stride;
}

// What stands at p in the next 16 rows is asked for, a line at a time.
HWY_INLINE void ask_for_next(const float* const* rows, Index p, Index ldb) {
  if (p % kTurned != 0) return;
  HWY_UNROLL(16)
  for (Index j = 0; j < kTurned; ++j) hwy::Prefetch(rows[j] + kTurned * ldb + p);
}

// C = alpha A Bᵀ + beta C for kRows rows of A and up to 16 rows of B, numbers [begin, begin + depth) of each.
template <Index kRows>
void sums_of_turned(const float* const* rows, Index count, Index begin, Index depth, Real alpha, const Real* a,
                    Index lda, Index ldb, Real beta, Real* c, Index ldc) {
  V sums[kRows];
  HWY_UNROLL(6)
  for (V& sum : sums) sum = set(0);
  const auto add = [&](Index p, V right) HWY_ATTR {
    HWY_UNROLL(6)
    for (Index i = 0; i < kRows; ++i) sums[i] = hn::MulAdd(hn::Set(D(), a[i * lda + p]), right, sums[i]);
  };
  Index p = begin;
  for (; p + 4 <= begin + depth; p += 4) {
    ask_for_next(rows, p, ldb);
    __m512 turned[4];
    turn(rows, p, turned);
    HWY_UNROLL(4)
    for (Index i = 0; i < 4; ++i) add(p + i, V{turned[i]});
  }
  for (; p < begin + depth; ++p) {
    HWY_ALIGN float one[kTurned];
    for (Index j = 0; j < kTurned; ++j) one[j] = rows[j][p];
    add(p, load(one));
  }
  HWY_UNROLL(6)
  for (Index i = 0; i < kRows; ++i) {
    V sum = hn::Mul(hn::Set(D(), alpha), sums[i]);
    if (beta != 0) sum = hn::MulAdd(hn::Set(D(), beta), load_part(c + i * ldc, count), sum);
    store_part(sum, c + i * ldc, count);
  }
}

// packed[p * width + j] = b[j * ldb + p] for `depth` numbers of the rows [first, end) of B, and for others beyond them
// up to the width, a multiple of 16.
void pack_turned(Matrix b, Index first, Index end, Index begin, Index depth, Index width, float* packed) {
  for (Index at = 0; at < width; at += kTurned) {
    const float* rows[kTurned];
    rows_to_turn(b, first + at, end, rows);
    Index p = 0;
    for (; p + 4 <= depth; p += 4) {
      ask_for_next(rows, begin + p, b.stride);
      __m512 turned[4];
      turn(rows, begin + p, turned);
      HWY_UNROLL(4)
      for (Index i = 0; i < 4; ++i) _mm512_storeu_ps(packed + (p + i) * width + at, turned[i]);
    }
    for (; p < depth; ++p)
      for (Index j = 0; j < kTurned; ++j) packed[p * width + at + j] = rows[j][begin + p];
  }
}

// The same of C = alpha A Bᵀ + beta C: B is turned a tile at a time, which takes less than to wait for it to come from
// memory and spares each element of C a sum over lanes. Every element is summed as in few_rows.
void few_rows_transposed(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                         Index ldc) {
  using Few = decltype(&sums_of_turned<1>);
  static constexpr Few kFew[] = {sums_of_turned<1>, sums_of_turned<2>, sums_of_turned<3>,
                                 sums_of_turned<4>, sums_of_turned<5>, sums_of_turned<6>};
  constexpr Index kWidth = kTile * kTurned;
  HWY_ALIGN Real packed[kDepth * kWidth];
  const Index group = group_of(m);
  for (Index j = begin, width = 0; j < end; j += width) {
    const bool wide = m > kMostRows && end - j >= kWidth;
    width = wide ? kWidth : kTurned;
    const float* rows[kTurned];
    if (!wide) rows_to_turn(b, j, end, rows);
    for (Index p = 0; p < k; p += kDepth) {
      const Index depth = std::min(kDepth, k - p);
      if (wide) pack_turned(b, j, end, p, depth, width, packed);
      for (Index i = 0; i < m; i += group) {
        const Index some = std::min(group, m - i) - 1;
        const Real* const left = a.data + i * a.stride;
        Real* const to = c + i * ldc + j;
        const Real kept = p == 0 ? beta : Real{1};
        if (wide)
          tile_of<false>(some + 1, kTile)(0, depth, alpha, left + p, a.stride, packed, width, kept, to, ldc, nullptr,
                                          Later{});
        else
          kFew[some](rows, std::min(width, end - j), p, depth, alpha, left, a.stride, b.stride, kept, to, ldc);
      }
    }
  }
}
#else
// C = alpha A Bᵀ + beta C for kRows rows of A and n of B, each element the dot product of two rows. kAhead: B comes
// from memory, and what is read next is asked for. Of what is in cache already that would take the time of loads.
template <Index kRows, bool kAhead>
void dots_of_rows(Index n, Index k, Real alpha, const Real* a, Index lda, const Real* b, Index ldb, Real beta, Real* c,
                  Index ldc) {
  for (Index first = 0; first < n; first += kTile) {
    const Index columns = std::min(kTile, n - first);
    const Real* rows[kTile];
    HWY_UNROLL(4)
    for (Index j = 0; j < kTile; ++j) rows[j] = b + (first + std::min(j, columns - 1)) * ldb;  // beyond: any row
    V sums[kRows * kTile];
    HWY_UNROLL(24)
    for (V& sum : sums) sum = set(0);
    const auto add = [&](const auto& read) HWY_ATTR {
      V right[kTile];
      HWY_UNROLL(4)
      for (Index j = 0; j < kTile; ++j) right[j] = read(rows[j]);
      HWY_UNROLL(6)
      for (Index i = 0; i < kRows; ++i) {
        const V left = read(a + i * lda);
        HWY_UNROLL(4)
        for (Index j = 0; j < kTile; ++j) sums[i * kTile + j] = hn::MulAdd(left, right[j], sums[i * kTile + j]);
      }
    };
    for_each_vector(
        k,
        [&](Index x) HWY_ATTR {
          if constexpr (kAhead) {
            // The rows after these are likely in another page, where the hardware does not look ahead.
            HWY_UNROLL(4)
            for (Index j = 0; j < kTile; ++j) hwy::Prefetch(rows[j] + kTile * ldb + x);
          }
          add([x](const Real* row) HWY_ATTR { return load(row + x); });
        },
        [&](Index x, Index rest)
            HWY_ATTR { add([x, rest](const Real* row) HWY_ATTR { return load_part(row + x, rest); }); });
    HWY_UNROLL(6)
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        Real& to = c[i * ldc + first + j];
        const Real sum = alpha * sum_lanes(sums[i * kTile + j]);
        to = beta == 0 ? sum : sum + beta * to;
      }
    }
  }
}

// The same of C = alpha A Bᵀ + beta C.
void few_rows_transposed(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                         Index ldc) {
  using Dots = decltype(&dots_of_rows<1, true>);
  static constexpr Dots kDots[] = {dots_of_rows<1, true>, dots_of_rows<2, true>, dots_of_rows<3, true>,
                                   dots_of_rows<4, true>, dots_of_rows<5, true>, dots_of_rows<6, true>};
  static constexpr Dots kDotsAgain[] = {dots_of_rows<1, false>, dots_of_rows<2, false>, dots_of_rows<3, false>,
                                        dots_of_rows<4, false>, dots_of_rows<5, false>, dots_of_rows<6, false>};
  constexpr Index kColumns = 64;  // rows of B that the next group of rows finds in cache
  const Index group = group_of(m);
  for (Index j = begin; j < end; j += kColumns)
    for (Index i = 0; i < m; i += group) {
      const Dots* const dots = i == 0 ? kDots : kDotsAgain;
      dots[std::min(group, m - i) - 1](std::min(kColumns, end - j), k, alpha, a.data + i * a.stride, a.stride,
                                       b.data + j * b.stride, b.stride, beta, c + i * ldc + j, ldc);
    }
}
#endif

// Some rows of A by many of B, C = alpha A Bᵀ + beta C, where dot products would read A again and again from the second
// cache: A stands transposed, [depth, rows], so that a vector holds a number of each row, and B is read number by
// number, kDepthOfRows of each row at a time.
constexpr Index kDepthOfRows = 128, kMostVectors = 4;
constexpr Index kSums = kTile * kMostRows;  // that stay in registers

// Sums of `depth` numbers for kRows rows of B against kVectors vectors of rows of A, added to `sums` [kRows, vectors]
// or, if `first`, put there. Asks for the same numbers of the kRows rows behind.
template <Index kRows, Index kVectors>
void sums_of_rows(Index depth, const Real* a, const Real* b, Index ldb, bool first, Real* to) {
  const Index step = lanes();
  V sums[kRows * kVectors];
  HWY_UNROLL(24)
  for (V& sum : sums) sum = set(0);
  for (Index p = 0; p < depth; ++p) {
    for (Index r = p % kLine; r < kRows; r += kLine) to_second_cache(b + (kRows + r) * ldb + (p - p % kLine));
    V left[kVectors];
    HWY_UNROLL(4)
    for (Index v = 0; v < kVectors; ++v) left[v] = load(a + (p * kVectors + v) * step);
    HWY_UNROLL(24)
    for (Index r = 0; r < kRows; ++r) {
      const V right = hn::Set(D(), b[r * ldb + p]);
      HWY_UNROLL(4)
      for (Index v = 0; v < kVectors; ++v) sums[r * kVectors + v] = hn::MulAdd(left[v], right, sums[r * kVectors + v]);
    }
  }
  HWY_UNROLL(24)
  for (Index i = 0; i < kRows * kVectors; ++i)
    store(first ? sums[i] : hn::Add(load(to + i * step), sums[i]), to + i * step);
}

// `count` rows of A, `depth` numbers of each, as [depth, width]; beyond count: zeros.
void transpose_rows(const Real* a, Index lda, Index count, Index depth, Index width, Real* to) {
  const Index step = lanes();
  HWY_ALIGN Real four[4 * hn::MaxLanes(D())];
  const hn::CappedTag<Real, 4> d4;
  for (Index i = 0; i < width; i += 4) {
    Index p = 0;
    if (i + 4 <= count && hn::Lanes(d4) == 4)
      for (; p + step <= depth; p += step) {
        const Real* const from = a + i * lda + p;
        hn::StoreInterleaved4(load(from), load(from + lda), load(from + 2 * lda), load(from + 3 * lda), D(), four);
        for (Index q = 0; q < step; ++q) hn::StoreU(hn::LoadU(d4, four + 4 * q), d4, to + (p + q) * width + i);
      }
    for (; p < depth; ++p)
      for (Index r = i; r < std::min(i + 4, width); ++r) to[p * width + r] = r < count ? a[r * lda + p] : Real{0};
  }
}

template <Index kVectors>
void rows_by_rows(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                  Index ldc) {
  constexpr Index kRows = kSums / kVectors, kColumns = 384;  // of C at a time
  constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));
  HWY_ALIGN Real left[kDepthOfRows * kVectors * kLanes];
  HWY_ALIGN Real sums[kColumns * kVectors * kLanes];
  const Index width = kVectors * lanes();
  for (Index j = begin; j < end; j += kColumns) {
    const Index columns = std::min(kColumns, end - j);
    for (Index p = 0; p < k; p += kDepthOfRows) {
      const Index depth = std::min(kDepthOfRows, k - p);
      transpose_rows(a.data + p, a.stride, m, depth, width, left);
      Index x = 0;
      const Real* const from = b.data + j * b.stride + p;
      for (; x + kRows <= columns; x += kRows)
        sums_of_rows<kRows, kVectors>(depth, left, from + x * b.stride, b.stride, p == 0, sums + x * width);
      for (; x + 4 <= columns; x += 4)
        sums_of_rows<4, kVectors>(depth, left, from + x * b.stride, b.stride, p == 0, sums + x * width);
      for (; x < columns; ++x)
        sums_of_rows<1, kVectors>(depth, left, from + x * b.stride, b.stride, p == 0, sums + x * width);
    }
    for (Index i = 0; i < m; ++i)
      for (Index x = 0; x < columns; ++x) {
        Real& to = c[i * ldc + j + x];
        const Real sum = alpha * sums[x * width + i];
        to = beta == 0 ? sum : sum + beta * to;
      }
  }
}

// Columns [begin, end) of C = alpha A Bᵀ + beta C, of some rows at a time.
void some_rows_transposed(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                          Index ldc) {
  using Rows = decltype(&rows_by_rows<1>);
  static constexpr Rows kRowsBy[] = {rows_by_rows<1>, rows_by_rows<2>, rows_by_rows<3>, rows_by_rows<4>};
  const Index most = kMostVectors * lanes(), parts = (m + most - 1) / most, part = (m + parts - 1) / parts;
  for (Index i = 0; i < m; i += part) {
    const Index rows = std::min(part, m - i);
    kRowsBy[(rows + lanes() - 1) / lanes() - 1](begin, end, rows, k, alpha, {a.data + i * a.stride, a.stride}, b, beta,
                                                c + i * ldc, ldc);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(few_rows);
HWY_EXPORT(few_rows_transposed);
HWY_EXPORT(few_rows_packed);
HWY_EXPORT(some_rows_transposed);
HWY_EXPORT(pack_tiles);
HWY_EXPORT(tiles_of);
HWY_EXPORT(packed_columns);

void few_rows(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  HWY_DYNAMIC_DISPATCH(few_rows)(begin, end, m, k, alpha, a, b, beta, c, ldc);
}
void few_rows_transposed(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                         Index ldc) {
  HWY_DYNAMIC_DISPATCH(few_rows_transposed)(begin, end, m, k, alpha, a, b, beta, c, ldc);
}
void some_rows_transposed(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                          Index ldc) {
  HWY_DYNAMIC_DISPATCH(some_rows_transposed)(begin, end, m, k, alpha, a, b, beta, c, ldc);
}
void few_rows_packed(Index begin, Index end, Index m, Index n, Index k, const Real* a, Index lda, const Real* packed,
                     Real beta, Real* c, Index ldc) {
  HWY_DYNAMIC_DISPATCH(few_rows_packed)(begin, end, m, n, k, a, lda, packed, beta, c, ldc);
}
void pack_tiles(Index n, Index k, Matrix b, Real* packed) { HWY_DYNAMIC_DISPATCH(pack_tiles)(n, k, b, packed); }
Index tiles_of(Index n) { return HWY_DYNAMIC_DISPATCH(tiles_of)(n); }
Index packed_columns(Index n) { return HWY_DYNAMIC_DISPATCH(packed_columns)(n); }

}  // namespace heed::kernels
#endif
