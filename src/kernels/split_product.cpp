#include "heed/kernels/split_product.h"

#include "heed/base/signal_stack.h"
#include "heed/kernels/amx-inl.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/ref/gemm.h"

#if defined(__x86_64__) && !defined(HEED_DOUBLE)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 warns of its own intrinsics
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

namespace heed::kernels {
namespace in_parts {  // folders are compiled together, and int8_amx.cpp has tiles too
namespace {

#define HEED_SPLIT __attribute__((target("avx512f,avx512bw,avx512vl,amx-tile,amx-bf16")))

using Half = std::uint16_t;  // a number of bfloat16: the upper half of a float

// A tile is of 16 vectors (rows of A, columns of B) and 32 numbers of each. On the left of a product its rows are the
// vectors, on the right they are the pairs of neighbouring numbers. The parts of a tile stand after each other.
constexpr Index kVectors = kAmxRows, kNumbers = 32, kParts = 3, kPart = kVectors * kNumbers, kTile = kParts * kPart;

constexpr unsigned kUpperHalf = 0xffff0000;
HEED_SPLIT inline __m512i upper_halves() { return _mm512_set1_epi32(static_cast<int>(kUpperHalf)); }
// What the upper half of a float leaves over: exact.
HEED_SPLIT inline __m512 rest(__m512 x) {
  return _mm512_sub_ps(x, _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), upper_halves())));
}
// The upper halves of two vectors' numbers: pairs of one of each, or all of the first and then of the second.
HEED_SPLIT inline __m512i paired(__m512 even, __m512 odd) {
  constexpr int kFirstOrSecondWhereThird = 0xf8;
  return _mm512_ternarylogic_epi32(_mm512_srli_epi32(_mm512_castps_si512(even), 16), _mm512_castps_si512(odd),
                                   upper_halves(), kFirstOrSecondWhereThird);
}
HEED_SPLIT inline __m512i joined(__m512 first, __m512 second) {
  alignas(64) static constexpr auto kOdd = [] {
    std::array<Half, 32> places{};
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<Half>(2 * i + 1);
    return places;
  }();
  return _mm512_permutex2var_epi16(_mm512_castps_si512(first), _mm512_load_si512(kOdd.data()),
                                   _mm512_castps_si512(second));
}

// Turns 16 × 16 elements of four bytes.
HEED_SPLIT inline void turn(__m512i* rows) {
  __m512i other[16];
  for (int i = 0; i < 16; i += 2) {
    other[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    other[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    rows[i] = _mm512_unpacklo_epi64(other[i], other[i + 2]);
    rows[i + 1] = _mm512_unpackhi_epi64(other[i], other[i + 2]);
    rows[i + 2] = _mm512_unpacklo_epi64(other[i + 1], other[i + 3]);
    rows[i + 3] = _mm512_unpackhi_epi64(other[i + 1], other[i + 3]);
  }
  constexpr int kEven = 0x88, kOdd = 0xdd;  // quarters of both
  for (int i = 0; i < 4; ++i) {
    other[i] = _mm512_shuffle_i32x4(rows[i], rows[4 + i], kEven);
    other[4 + i] = _mm512_shuffle_i32x4(rows[i], rows[4 + i], kOdd);
    other[8 + i] = _mm512_shuffle_i32x4(rows[8 + i], rows[12 + i], kEven);
    other[12 + i] = _mm512_shuffle_i32x4(rows[8 + i], rows[12 + i], kOdd);
  }
  for (int i = 0; i < 8; ++i) {
    rows[i] = _mm512_shuffle_i32x4(other[i], other[8 + i], kEven);
    rows[8 + i] = _mm512_shuffle_i32x4(other[i], other[8 + i], kOdd);
  }
}

HEED_SPLIT inline __mmask16 first_of_16(Index count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1U << count) - 1);
}

// Vectors of numbers: rows of A, columns of B.
struct Vectors {
  const float* data;
  Index stride;
  bool along;  // the numbers of a vector stand after each other, otherwise the vectors do
  const float* at(Index vector, Index number) const {
    return along ? data + vector * stride + number : data + number * stride + vector;
  }
};
Vectors rows_of(const Matrix& a) { return {a.data, a.stride, !a.transposed}; }
Vectors columns_of(const Matrix& b) { return {b.data, b.stride, b.transposed}; }

// A tile of `vectors` vectors and `numbers` numbers, the rest zero.
template <bool kAlong, bool kLeft, bool kWhole>
HEED_SPLIT void split_tile(const float* x, Index stride, Index vectors, Index numbers, Half* tile) {
  const Index lines = kWhole ? 2 * kVectors : kAlong ? vectors : numbers;  // that are there
  const auto read = [&](Index line, Index from) HEED_SPLIT {
    if constexpr (kWhole) return _mm512_loadu_ps(x + line * stride + from);
    if (line >= lines) return _mm512_setzero_ps();
    return _mm512_maskz_loadu_ps(first_of_16(kAlong ? numbers - from : vectors), x + line * stride + from);
  };
  [[maybe_unused]] __m512i parts[kParts][kAmxRows];  // that are turned
#pragma GCC unroll 4
  for (Index i = 0; i < kAmxRows; ++i) {
    __m512 first = kAlong ? read(i, 0) : read(2 * i, 0), second = kAlong ? read(i, 16) : read(2 * i + 1, 0);
#pragma GCC unroll 3
    for (Index part = 0; part < kParts; ++part) {
      const __m512i halves = kAlong ? joined(first, second) : paired(first, second);
      if constexpr (kAlong == kLeft)
        _mm512_store_si512(tile + part * kPart + i * kNumbers, halves);
      else
        parts[part][i] = halves;
      first = rest(first), second = rest(second);
    }
  }
  if constexpr (kAlong != kLeft)
    for (Index part = 0; part < kParts; ++part) {
      turn(parts[part]);
      for (Index i = 0; i < kAmxRows; ++i) _mm512_store_si512(tile + part * kPart + i * kNumbers, parts[part][i]);
    }
}

// Tiles of vectors [first, first + count) and numbers [from, from + depth), those of 16 vectors after each other.
template <bool kLeft>
void split(const Vectors& x, Index first, Index count, Index from, Index depth, Half* tiles) {
  const Index deep = (depth + kNumbers - 1) / kNumbers;
  for (Index number = 0; number < depth; number += kNumbers)
    for (Index vector = 0; vector < count; vector += kVectors) {
      const Index vectors = std::min(kVectors, count - vector), numbers = std::min(kNumbers, depth - number);
      const bool whole = vectors == kVectors && numbers == kNumbers;
      const auto tile = x.along ? (whole ? split_tile<true, kLeft, true> : split_tile<true, kLeft, false>)
                                : (whole ? split_tile<false, kLeft, true> : split_tile<false, kLeft, false>);
      tile(x.at(first + vector, from + number), x.stride, vectors, numbers,
           tiles + (vector / kVectors * deep + number / kNumbers) * kTile);
    }
}

constexpr Index kPair = 2 * kVectors;  // vectors of each side that are multiplied at a time

// Sums [32, 32] of one or two tiles of the left by one or two of the right, `deep` tiles deep; those of the other 16
// vectors are as many tiles further on. B is on the left if kTurned is set; parts are multiplied in one order, so that
// the sums are the same.
template <bool kTurned, bool kTwoLeft, bool kTwoRight>
HEED_SPLIT void sums_of_tiles(const Half* left, const Half* right, Index deep, float* sums) {
  const Index other = deep * kTile;
  constexpr std::size_t kRow = kPair * sizeof(float);
  const auto load_left = [&](Index part) HEED_SPLIT {
    _tile_loadd(4, left + part * kPart, kAmxBytes);
    if constexpr (kTwoLeft) _tile_loadd(5, left + other + part * kPart, kAmxBytes);
  };
  const auto load_right = [&](Index part) HEED_SPLIT {
    _tile_loadd(6, right + part * kPart, kAmxBytes);
    if constexpr (kTwoRight) _tile_loadd(7, right + other + part * kPart, kAmxBytes);
  };
  const auto load_a = [&](Index part) HEED_SPLIT { kTurned ? load_right(part) : load_left(part); };
  const auto load_b = [&](Index part) HEED_SPLIT { kTurned ? load_left(part) : load_right(part); };
  const auto multiply = [&]() HEED_SPLIT {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kTwoRight) _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwoLeft) _tile_dpbf16ps(2, 5, 6);
    if constexpr (kTwoLeft && kTwoRight) _tile_dpbf16ps(3, 5, 7);
  };
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (Index tile = 0; tile < deep; ++tile, left += kTile, right += kTile) {  // each product has one side of the last
    load_a(0), load_b(2), multiply();
    load_b(1), multiply();
    load_a(1), multiply();
    load_b(0), multiply();
    load_a(2), multiply();
    load_a(0), multiply();
  }
  _tile_stored(0, sums, kRow);
  if constexpr (kTwoRight) _tile_stored(1, sums + kVectors, kRow);
  if constexpr (kTwoLeft) _tile_stored(2, sums + kVectors * kPair, kRow);
  if constexpr (kTwoLeft && kTwoRight) _tile_stored(3, sums + kVectors * kPair + kVectors, kRow);
  memory_is_used();
}

// Up to 32 × 32 elements of C.
struct Corner {
  Index rows, columns;
  float* data;
  Index stride;

  // C = alpha sums + beta C of up to 16 elements of a row.
  HEED_SPLIT void write(Index row, Index column, __m512 sums, float alpha, float beta) const {
    float* const to = data + row * stride + column;
    const __mmask16 mask = first_of_16(columns - column);
    __m512 result = _mm512_mul_ps(_mm512_set1_ps(alpha), sums);
    if (beta != 0) result = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_maskz_loadu_ps(mask, to), result);
    _mm512_mask_storeu_ps(to, mask, result);
  }
  void prefetch() const {
    for (Index row = 0; row < rows; ++row)
      for (Index column = 0; column < columns; column += kVectors) __builtin_prefetch(data + row * stride + column, 1);
  }
};

// Sums of a corner that wait until the tiles are busy with the next ones.
template <bool kTurned>  // B is on the left, so that the sums are those of Cᵀ
struct CornerSums {
  alignas(64) float sums[kPair * kPair];
  Corner corner{};

  // `deep` tiles of A's rows by those of B's columns.
  HEED_SPLIT void multiply(const Half* a, const Half* b, Index deep, const Corner& of) {
    using Sums = decltype(&sums_of_tiles<kTurned, true, true>);
    static constexpr Sums kSums[2][2] = {{sums_of_tiles<kTurned, false, false>, sums_of_tiles<kTurned, false, true>},
                                         {sums_of_tiles<kTurned, true, false>, sums_of_tiles<kTurned, true, true>}};
    corner = of;
    const std::size_t two_rows = of.rows > kVectors ? 1 : 0, two_columns = of.columns > kVectors ? 1 : 0;
    if constexpr (kTurned)
      kSums[two_columns][two_rows](b, a, deep, sums);
    else
      kSums[two_rows][two_columns](a, b, deep, sums);
  }
  HEED_SPLIT void write(float alpha, float beta) const {
    for (Index column = 0; column < corner.columns; column += kVectors) {
      if constexpr (!kTurned) {
        for (Index row = 0; row < corner.rows; ++row)
          corner.write(row, column, _mm512_load_ps(sums + row * kPair + column), alpha, beta);
        continue;
      }
      for (Index row = 0; row < corner.rows; row += kVectors) {
        __m512i tile[kVectors];
        for (Index i = 0; i < kVectors; ++i) tile[i] = _mm512_load_si512(sums + (column + i) * kPair + row);
        turn(tile);
        for (Index i = 0; i < std::min(kVectors, corner.rows - row); ++i)
          corner.write(row + i, column, _mm512_castsi512_ps(tile[i]), alpha, beta);
      }
    }
  }
};

// Numbers of a vector, rows of A and columns of B that are split at a time: 1.2 MB, which the second cache holds.
constexpr Index kDepth = 512, kRowsKept = 320, kColumns = 64;

// Memory of a thread for what it splits.
struct Tiles {
  static constexpr std::size_t kKept = kRowsKept * kDepth * kParts, kStreamed = kColumns * kDepth * kParts;
  std::unique_ptr<Half, decltype(&std::free)> memory{
      static_cast<Half*>(std::aligned_alloc(kAmxBytes, (kKept + kStreamed) * sizeof(Half))), &std::free};
  Tiles() {
    if (!memory) throw std::bad_alloc();
  }
  Half* rows() const { return memory.get(); }
  Half* columns() const { return memory.get() + kKept; }
};

template <bool kTurned>
HEED_SPLIT void product(const Tiles& tiles, Index m, Index n, Index k, Real alpha, const Vectors& rows,
                        const Vectors& columns, Real beta, Real* c, Index ldc) {
  CornerSums<kTurned> corners[2];
  for (Index i = 0; i < m; i += kRowsKept)
    for (Index p = 0; p < k; p += kDepth) {
      const Index kept = std::min(kRowsKept, m - i), depth = std::min(kDepth, k - p);
      const Index deep = (depth + kNumbers - 1) / kNumbers, pair = kPair / kVectors * deep * kTile;
      const Real factor = p == 0 ? beta : 1;
      split<!kTurned>(rows, i, kept, p, depth, tiles.rows());
      for (Index j = 0; j < n; j += kColumns) {
        const Index taken = std::min(kColumns, n - j);
        split<kTurned>(columns, j, taken, p, depth, tiles.columns());
        memory_is_used();
        Index done = 0;
        for (Index row = 0; row < kept; row += kPair)
          for (Index column = 0; column < taken; column += kPair, ++done) {
            const Corner corner{std::min(kPair, kept - row), std::min(kPair, taken - column),
                                c + (i + row) * ldc + j + column, ldc};
            corner.prefetch();
            corners[done % 2].multiply(tiles.rows() + row / kPair * pair, tiles.columns() + column / kPair * pair, deep,
                                       corner);
            if (done > 0) corners[(done - 1) % 2].write(alpha, factor);
          }
        corners[(done - 1) % 2].write(alpha, factor);
      }
    }
}

}  // namespace
}  // namespace in_parts

bool takes_split(Index m, Index n, Index k) {
  constexpr Index kRows = 81, kWidth = 48, kLength = 64;  // below these the splitting costs what the tiles gain
  return m >= kRows && n >= kWidth && k >= kLength && amx();
}

HEED_SPLIT void split_product(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                              Index ldc) {
  thread_local const in_parts::Tiles tiles;
  use_signal_stack();
  const bool turned = b.transposed && m < n;  // one side and C, rather than the longer side
  const TileShapes shapes;
  memory_is_used();
  _tile_loadconfig(&shapes);
  (turned ? in_parts::product<true> : in_parts::product<false>)(tiles, m, n, k, alpha, in_parts::rows_of(a),
                                                                in_parts::columns_of(b), beta, c, ldc);
  _tile_release();
}

}  // namespace heed::kernels
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#else
namespace heed::kernels {
bool takes_split(Index, Index, Index) { return false; }
void split_product(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
}
}  // namespace heed::kernels
#endif
