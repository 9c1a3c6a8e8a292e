#include "heed/kernels/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <utility>

#include "heed/base/one_thread.h"
#include "heed/base/signal_stack.h"
#include "heed/base/threads.h"
#include "heed/kernels/ref/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Rows of B at a time: the sums stay in registers, of which x86 has 32 from AVX-512 on and 16 before.
constexpr Index kTile = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 2 : 4;

// The sum of the lanes of each of kTile vectors.
HWY_INLINE void sum_each(const V* vectors, Real* sums) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kFloat) {
    // Blocks of four lanes are added up as they are transposed, then the four blocks: fewer steps than one by one.
    const hn::Repartition<double, D> pairs;
    const auto folded = [](V a, V b) HWY_ATTR {
      return hn::Add(hn::InterleaveLower(D(), a, b), hn::InterleaveUpper(D(), a, b));
    };
    const auto left = hn::BitCast(pairs, folded(vectors[0], vectors[1]));
    const auto right = hn::BitCast(pairs, folded(vectors[2], vectors[3]));
    const V blocks = hn::Add(hn::BitCast(D(), hn::InterleaveLower(pairs, left, right)),
                             hn::BitCast(D(), hn::InterleaveUpper(pairs, left, right)));
    const hn::Half<D> half;
    const hn::Half<decltype(half)> quarter;
    const auto two = hn::Add(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks));
    hn::StoreU(hn::Add(hn::LowerHalf(quarter, two), hn::UpperHalf(quarter, two)), quarter, sums);
    return;
  }
#endif
  for (Index j = 0; j < kTile; ++j) sums[j] = sum_lanes(vectors[j]);
}

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
      Real whole[kTile];
      sum_each(sums + i * kTile, whole);
      for (Index j = 0; j < columns; ++j) {
        Real& to = c[i * ldc + first + j];
        to = beta == 0 ? alpha * whole[j] : alpha * whole[j] + beta * to;
      }
    }
  }
}

// C = alpha A B + beta C for kRows rows of A and kVectors vectors of columns of B; of one vector the first `part`
// columns only, if it is not 0. Leaves what it read of B in `packed`, row after row, if that is not null. kAhead: as
// above.
template <Index kRows, Index kVectors, bool kAhead>
void sums_of_columns(Index part, Index k, Real alpha, const Real* a, Index lda, const Real* b, Index ldb, Real beta,
                     Real* c, Index ldc, Real* packed) {
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
      right[v] = part == 0 ? load(row + v * step) : load_part(row, part);
      if constexpr (kAhead) hwy::Prefetch(row + kRowsAhead * ldb + v * step);
    }
    if (packed) {
      HWY_UNROLL(4)
      for (Index v = 0; v < kVectors; ++v) store(right[v], packed + (p * kVectors + v) * step);
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
      V sum = hn::Mul(factor, sums[i * kVectors + v]);
      if (beta != 0) sum = hn::MulAdd(kept, part == 0 ? load(to) : load_part(to, part), sum);
      if (part == 0)
        store(sum, to);
      else
        store_part(sum, to, part);
    }
  }
}

constexpr Index kMostRows = 6;  // at a time
constexpr Index kManyRows = 32;

// Rows are taken in groups of equal size, at most kMostRows.
Index group_of(Index m) {
  const Index groups = (m + kMostRows - 1) / kMostRows;
  return (m + groups - 1) / groups;
}

// Columns [begin, end) of C = alpha A B + beta C. Each element is summed in the same order whatever m, begin and end
// are.
void few_rows(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  using Tile = decltype(&sums_of_columns<1, 1, true>);
  static constexpr Tile kWide[] = {sums_of_columns<1, kTile, true>, sums_of_columns<2, kTile, true>,
                                   sums_of_columns<3, kTile, true>, sums_of_columns<4, kTile, true>,
                                   sums_of_columns<5, kTile, true>, sums_of_columns<6, kTile, true>};
  static constexpr Tile kWideAgain[] = {sums_of_columns<1, kTile, false>, sums_of_columns<2, kTile, false>,
                                        sums_of_columns<3, kTile, false>, sums_of_columns<4, kTile, false>,
                                        sums_of_columns<5, kTile, false>, sums_of_columns<6, kTile, false>};
  static constexpr Tile kNarrow[] = {sums_of_columns<1, 1, true>, sums_of_columns<2, 1, true>,
                                     sums_of_columns<3, 1, true>, sums_of_columns<4, 1, true>,
                                     sums_of_columns<5, 1, true>, sums_of_columns<6, 1, true>};
  constexpr Index kDepth = 128;  // rows of B at a time: their pages are at hand from one tile of columns to the next
  HWY_ALIGN Real packed[kDepth * kTile * static_cast<Index>(hn::MaxLanes(D()))];  // a tile for the next groups
  const Index group = group_of(m), step = lanes();
  const auto width_at = [&](Index j) { return end - j >= kTile * step ? kTile * step : std::min(step, end - j); };
  const auto tile = [&](Index p, Index j) HWY_ATTR {
    const Index depth = std::min(kDepth, k - p), width = width_at(j);
    for (Index i = 0; i < m; i += group) {
      const Index rows = std::min(group, m - i);
      const bool whole = width >= step, again = whole && i > 0, once = rows == m;
      const Tile* const tiles = width <= step ? kNarrow : again ? kWideAgain : kWide;
      tiles[rows - 1](whole ? 0 : width, depth, alpha, a.data + i * a.stride + p, a.stride,
                      again ? packed : b.data + p * b.stride + j, again ? width : b.stride, p == 0 ? beta : Real{1},
                      c + i * ldc + j, ldc, whole && i == 0 && !once ? packed : nullptr);
    }
  };
  // Of few rows the pages of B are what counts, of many the rows of C that a tile has.
  if (m <= kManyRows) {
    for (Index p = 0; p < k; p += kDepth)
      for (Index j = begin; j < end; j += width_at(j)) tile(p, j);
  } else {
    for (Index j = begin; j < end; j += width_at(j))
      for (Index p = 0; p < k; p += kDepth) tile(p, j);
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
  using Tile = decltype(&sums_of_columns<1, 1, false>);
  static constexpr Tile kWide[] = {sums_of_columns<1, kTile, false>, sums_of_columns<2, kTile, false>,
                                   sums_of_columns<3, kTile, false>, sums_of_columns<4, kTile, false>,
                                   sums_of_columns<5, kTile, false>, sums_of_columns<6, kTile, false>};
  using Few = decltype(&sums_of_turned<1>);
  static constexpr Few kFew[] = {sums_of_turned<1>, sums_of_turned<2>, sums_of_turned<3>,
                                 sums_of_turned<4>, sums_of_turned<5>, sums_of_turned<6>};
  constexpr Index kDepth = 128, kWidth = kTile * kTurned;
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
          kWide[some](0, depth, alpha, left + p, a.stride, packed, width, kept, to, ldc, nullptr);
        else
          kFew[some](rows, std::min(width, end - j), p, depth, alpha, left, a.stride, b.stride, kept, to, ldc);
      }
    }
  }
}
#else
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

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(few_rows);
HWY_EXPORT(few_rows_transposed);

#ifndef HEED_DOUBLE
namespace {

constexpr Index kWorkOfThread = Index{1} << 21;  // multiplications that outweigh a thread's waking
constexpr Index kReadOfThread = Index{1} << 18;  // elements of a matrix that do, where few rows are multiplied by it
constexpr Index kBlock = 64;                     // rows or columns that are never cut over threads

// Up to so many rows, such as the hypotheses of one sentence or its words, our own kernels are as fast as oneDNN, whose
// first product writes code for some 30 ms (decision 19).
constexpr Index kFewRows = 32, kFewRowsTransposed = 24;

void product_of_few_rows(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  const Index grain = std::min(kReadOfThread, kWorkOfThread / m) / (kBlock * k);
  parallel_for((n + kBlock - 1) / kBlock, 1 + grain, [&](Index begin, Index end) {
    (b.transposed ? HWY_DYNAMIC_DISPATCH(few_rows_transposed) : HWY_DYNAMIC_DISPATCH(few_rows))(
        begin * kBlock, std::min(n, end * kBlock), m, k, alpha, a, b, beta, c, ldc);
  });
}

// oneDNN's product on the calling thread alone.
void product_of_one_thread(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  const OneThread alone;
  use_signal_stack();
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                                          a.stride, b.data, b.stride, beta, c, ldc);
  if (status != dnnl_success) ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
}

// The same, its longer side cut over threads. oneDNN's own threads would wait for each other by spinning, and on a busy
// machine for as long as another process keeps one of them from its core (decision 14).
void product(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  const bool columns = n >= m;
  const Index length = columns ? n : m, blocks = std::max<Index>(1, length / kBlock);  // the last may be longer
  const Index block_work = kBlock * (columns ? m : n) * k;
  parallel_for(blocks, 1 + kWorkOfThread / block_work, [&](Index begin, Index end) {
    const Index first = begin * kBlock, count = (end == blocks ? length : end * kBlock) - first;
    if (columns) {
      const Matrix part{b.data + first * (b.transposed ? b.stride : 1), b.stride, b.transposed};
      product_of_one_thread(m, count, k, alpha, a, part, beta, c + first, ldc);
    } else {
      const Matrix part{a.data + first * (a.transposed ? 1 : a.stride), a.stride, a.transposed};
      product_of_one_thread(count, n, k, alpha, part, b, beta, c + first * ldc, ldc);
    }
  });
}

}  // namespace
#endif

namespace {
thread_local bool rows_are_alone = false;
}
void set_rows_alone(bool alone) { rows_are_alone = alone; }
bool rows_alone() { return rows_are_alone; }

void gemm(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  if (m == 0 || n == 0) return;
#ifdef HEED_DOUBLE
  ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
#else
  if (k == 0) return ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);  // oneDNN leaves C as it is
  if (!a.transposed && (rows_are_alone || m <= (b.transposed ? kFewRowsTransposed : kFewRows)))
    return product_of_few_rows(m, n, k, alpha, a, b, beta, c, ldc);
  product(m, n, k, alpha, a, b, beta, c, ldc);
#endif
}

void gemm_batch(Index batch, Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc,
                BatchOffsets offsets) {
  // One product a thread is better than all threads on one; below some ten thousand multiplications a second thread
  // does not pay.
  const Index work = std::max<Index>(1, m * n * k);
  parallel_for(batch, std::max<Index>(1, 65536 / work), [&, alone = rows_are_alone](Index begin, Index end) {
    const bool before = std::exchange(rows_are_alone, alone);  // of this thread, which may be another
    for (Index i = begin; i < end; ++i)
      gemm(m, n, k, alpha, {a.data + offsets.a[i], a.stride, a.transposed},
           {b.data + offsets.b[i], b.stride, b.transposed}, beta, c + offsets.c[i], ldc);
    rows_are_alone = before;
  });
}

}  // namespace heed::kernels
#endif
