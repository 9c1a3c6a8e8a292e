// Per-target building blocks of the attention kernels: a register-blocked product, packing, and one strip of scores.
// Included again for each SIMD target, hence the toggled guard.
#include <algorithm>
#include <cmath>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_work.h"
#include "heed/kernels/simd-inl.h"

#if defined(HEED_KERNELS_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_TILE_INL_H_
#undef HEED_KERNELS_ATTENTION_TILE_INL_H_
#else
#define HEED_KERNELS_ATTENTION_TILE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

constexpr Real kHidden = -std::numeric_limits<Real>::infinity();
// A product keeps rows × 2 vectors of sums in registers: 24 of 32, or 12 of 16.
constexpr int kRegisterRows = (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4) ? 6 : 12;
HWY_INLINE Index panel_width() { return 2 * lanes(); }

// e^{x - shift} for x - shift <= 1 or so; exactly 1 at 0, exactly 0 below the normal numbers. Relative error below
// 2 ulp. Leaner than exp: 2^n is added to the exponent bits, and n comes out of an addition that rounds.
HWY_INLINE V exp_shifted(V x, V shift) {
  const V d = hn::Sub(x, shift);
  if constexpr (kFloat) {
    const hn::RebindToSigned<D> di;
    const V magic = set(12582912.0), log2e = set(1.4426950408889634);  // 1.5 · 2^23
    const V biased = hn::MulAdd(d, log2e, magic);
    const V r = hn::MulSub(d, log2e, hn::Sub(biased, magic));
    // 2^r on [-1/2, 1/2], fitted for the least relative error: 9.2e-08.
    V p = set(0.001326465908569036);
    p = hn::MulAdd(p, r, set(0.00967156595239308));
    p = hn::MulAdd(p, r, set(0.05550734388027654));
    p = hn::MulAdd(p, r, set(0.24022241271342132));
    p = hn::MulAdd(p, r, set(0.693146976990384));
    p = hn::MulAdd(p, r, set(1.0));
    const auto power = hn::ShiftLeft < kFloat ? 23 : 0 > (hn::BitCast(di, biased));
    const V result = hn::BitCast(D(), hn::Add(hn::BitCast(di, p), power));
    return hn::IfThenZeroElse(hn::Lt(d, set(-87.3)), result);  // a NaN stays
  } else {
    return exp(d);
  }
}

// kRows × 2 vectors of C, C = A B or C += A B. B's row k stands at b + k * b_step; A's (r, k) at a + r * a_step + k,
// or, transposed, at a + k * a_step + r. Each element is one chain of fused multiply-adds in the order of k, so it does
// not depend on kRows.
template <int kRows, bool kTransposed>
HWY_INLINE void multiply_registers(Index depth, const Real* HWY_RESTRICT a, Index a_step, const Real* HWY_RESTRICT b,
                                   Index b_step, Real* HWY_RESTRICT c, Index c_step, bool add) {
  const Index n = lanes();
  V left[kRows], right[kRows];
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) left[r] = right[r] = set(0);
  // Every third row has a pointer of its own: the others are one scaled index away, which x86 addresses for nothing.
  const Real* HWY_RESTRICT base[(kRows + 2) / 3];
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; r += 3) base[r / 3] = kTransposed ? a + r : a + r * a_step;
  const Index next = kTransposed ? 1 : a_step;
  HWY_UNROLL(2)
  for (Index k = 0; k < depth; ++k) {
    const V b0 = load(b), b1 = load(b + n);
    b += b_step;
    HWY_UNROLL(12)
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(D(), base[r / 3][r % 3 * next]);
      left[r] = hn::MulAdd(x, b0, left[r]);
      right[r] = hn::MulAdd(x, b1, right[r]);
    }
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; r += 3) base[r / 3] += kTransposed ? a_step : 1;
  }
  HWY_UNROLL(12)
  for (int r = 0; r < kRows; ++r) {
    Real* to = c + r * c_step;
    store(add ? hn::Add(load(to), left[r]) : left[r], to);
    store(add ? hn::Add(load(to + n), right[r]) : right[r], to + n);
  }
}

struct Rows {  // of the left factor
  const Real* data;
  Index step, count;
};
// `count` × panel_width() of C from one panel of B.
template <bool kTransposed>
HWY_INLINE void multiply_panel(Rows a, Index depth, const Real* b, Index b_step, Real* c, Index c_step, bool add) {
  const Index a_row = kTransposed ? 1 : a.step;
  Index r = 0;
  for (; r + kRegisterRows <= a.count; r += kRegisterRows)
    multiply_registers<kRegisterRows, kTransposed>(depth, a.data + r * a_row, a.step, b, b_step, c + r * c_step, c_step,
                                                   add);
  for (; r + 3 <= a.count; r += 3)
    multiply_registers<3, kTransposed>(depth, a.data + r * a_row, a.step, b, b_step, c + r * c_step, c_step, add);
  for (; r < a.count; ++r)
    multiply_registers<1, kTransposed>(depth, a.data + r * a_row, a.step, b, b_step, c + r * c_step, c_step, add);
}

// C += A B, B packed in panels of `panel_depth` rows of which `first` .. first + depth take part; C has `columns`
// columns, of which the last panel may have less than its width.
template <bool kTransposed>
HWY_INLINE void multiply_add(Rows a, Index first, Index depth, const Real* panels, Index panel_depth, Index columns,
                             Real* c, Index c_step) {
  const Index width = panel_width();
  for (Index at = 0; at < columns; at += width) {
    const Real* b = panels + at * panel_depth + first * width;
    if (at + width <= columns) {
      multiply_panel<kTransposed>(a, depth, b, width, c + at, c_step, true);
      continue;
    }
    HWY_ALIGN Real part[kAttentionStrip * 2 * HWY_MAX_BYTES / sizeof(Real)];
    const Index a_row = kTransposed ? 1 : a.step;
    for (Index r = 0; r < a.count; r += kAttentionStrip) {
      const Index rows = std::min(kAttentionStrip, a.count - r);
      multiply_panel<kTransposed>({a.data + r * a_row, a.step, rows}, depth, b, width, part, width, false);
      for (Index i = 0; i < rows; ++i)
        for (Index j = at; j < columns; ++j) c[(r + i) * c_step + j] += part[i * width + j - at];
    }
  }
}

// Panels of factor · x, x count × width: row k of panel p holds x[k, p W .. (p + 1) W), zeros beyond.
HWY_INLINE void pack_rows(Index count, Index width, const Real* x, Index x_step, Real factor, Real* panels) {
  const Index w = panel_width(), n = lanes();
  const V f = hn::Set(D(), factor);
  for (Index at = 0; at < width; at += w) {
    for (Index k = 0; k < count; ++k) {
      const Real* from = x + k * x_step + at;
      Real* to = panels + at * count + k * w;
      for (Index j = 0; j < w; j += n) {
        const Index rest = width - at - j;
        store(hn::Mul(f, rest >= n ? load(from + j) : rest > 0 ? load_part(from + j, rest) : set(0)), to + j);
      }
    }
  }
}

// to[c * to_step + k] = factor · x[k * x_step + c] for 4 × 4 floats.
#if HWY_TARGET != HWY_SCALAR && !defined(HEED_DOUBLE)
HWY_INLINE void transpose_four(const Real* x, Index x_step, Real factor, Real* to, Index to_step) {
  const hn::FixedTag<Real, 4> four;
  const hn::FixedTag<double, 2> pairs;
  const auto f = hn::Set(four, factor);
  const auto row = [&](Index k) HWY_ATTR { return hn::Mul(f, hn::LoadU(four, x + k * x_step)); };
  const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(four, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(four, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(four, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(four, r2, r3));
  hn::StoreU(hn::BitCast(four, hn::InterleaveLower(pairs, low01, low23)), four, to);
  hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(pairs, low01, low23)), four, to + to_step);
  hn::StoreU(hn::BitCast(four, hn::InterleaveLower(pairs, high01, high23)), four, to + 2 * to_step);
  hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(pairs, high01, high23)), four, to + 3 * to_step);
}
#else
HWY_INLINE void transpose_four(const Real* x, Index x_step, Real factor, Real* to, Index to_step) {
  for (Index k = 0; k < 4; ++k)
    for (Index c = 0; c < 4; ++c) to[c * to_step + k] = factor * x[k * x_step + c];
}
#endif

// Panels of factor · xᵀ, x count × width: row c of panel p holds x[p W .. (p + 1) W, c], zeros beyond.
HWY_INLINE void pack_transposed(Index count, Index width, const Real* x, Index x_step, Real factor, Real* panels) {
  const Index w = panel_width();
  for (Index at = 0; at < count; at += w) {
    Real* panel = panels + at * width;
    const Index filled = std::min(w, count - at), fours = filled / 4 * 4, wide = width / 4 * 4;
    for (Index k = 0; k < fours; k += 4)
      for (Index c = 0; c < wide; c += 4)
        transpose_four(x + (at + k) * x_step + c, x_step, factor, panel + c * w + k, w);
    for (Index k = 0; k < filled; ++k)
      for (Index c = k < fours ? wide : 0; c < width; ++c) panel[c * w + k] = factor * x[(at + k) * x_step + c];
    if (filled < w)
      for (Index c = 0; c < width; ++c) std::fill(panel + c * w + filled, panel + (c + 1) * w, Real{0});
  }
}

// One strip of products with a block of packed keys: scores[r * stride + c] for block columns [begin, end), which are
// whole panels.
HWY_INLINE void multiply_strip(Rows a, Index depth, const Real* panels, Index begin, Index end, Real* scores,
                               Index stride) {
  for (Index at = begin; at < end; at += panel_width())
    multiply_panel<false>(a, depth, panels + at * depth, panel_width(), scores + at, stride, false);
}

// The part of a strip that is outside the band.
HWY_INLINE void hide_outside(Band band, const ScoreTile& t, Real* scores) {
  const Index last = t.query + t.rows - 1;
  if (t.key >= last - band.before && t.key + t.columns - 1 <= t.query + band.after) return;
  for (Index r = 0; r < t.rows; ++r) {
    const Index i = t.query + r;
    const Index begin = std::clamp<Index>(i - band.before - t.key, 0, t.columns);
    const Index end = std::clamp<Index>(i + band.after + 1 - t.key, begin, t.columns);
    std::fill(scores + r * t.stride, scores + r * t.stride + begin, kHidden);
    std::fill(scores + r * t.stride + end, scores + r * t.stride + t.columns, kHidden);
  }
}

// The columns of one block that a strip works on.
struct Columns {
  Index begin, end, padded;  // begin and padded are whole panels; columns in [end, padded) do not exist
};
HWY_INLINE Columns columns_of(KeyRange seen, Index block) {
  const Index begin = seen.begin - block, end = seen.end - block;
  if (begin >= end) return {0, 0, 0};
  const Index w = panel_width();
  return {begin / w * w, end, (end + w - 1) / w * w};
}

// From products to scores: the rule, the window, and -infinity in the columns that do not exist. With `slopes`, f' of
// the raw scores goes there.
HWY_INLINE void finish_scores(const AttentionInput& in, ScoreTile t, Columns columns, Real* scores, Real* slopes) {
  Real* first = scores + columns.begin;
  t.key += columns.begin;
  t.columns = columns.end - columns.begin;
  if (slopes) in.rule.slope(in.rule.context, t, first, slopes + columns.begin);
  if (in.rule.apply) in.rule.apply(in.rule.context, t, first);
  hide_outside(in.band, t, first);
  if (in.rule.hide) in.rule.hide(in.rule.context, t, first);
  for (Index r = 0; r < t.rows; ++r)
    std::fill(scores + r * t.stride + columns.end, scores + r * t.stride + columns.padded, kHidden);
}

// The largest of whole panels.
HWY_INLINE Real largest_of(Index n, const Real* x) {
  const Index step = lanes();
  V a = load(x), b = load(x + step);
  for (Index i = 2 * step; i < n; i += 2 * step) {
    a = hn::Max(a, load(x + i));
    b = hn::Max(b, load(x + i + step));
  }
  return hn::GetLane(hn::MaxOfLanes(D(), hn::Max(a, b)));  // a NaN shows in the sum
}

// x := e^{x - shift} over whole panels; returns the sum.
HWY_INLINE Real exp_and_sum(Index n, Real* x, Real shift) {
  const Index step = lanes();
  const V s = hn::Set(D(), shift);
  V a = set(0), b = set(0);
  for (Index i = 0; i < n; i += 2 * step) {
    const V e = exp_shifted(load(x + i), s), g = exp_shifted(load(x + i + step), s);
    store(e, x + i), store(g, x + i + step);
    a = hn::Add(a, e), b = hn::Add(b, g);
  }
  return sum_lanes(hn::Add(a, b));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
