#include <algorithm>
#include <cmath>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_weights.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/attention_tile-inl.h"

// Weights from the kept log-sum-exp, for the few rows that are asked for, or summed up on the way.

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Rows that may stand anywhere; weights [asked.row_count, keys].
void rows_of_head(const AttentionInput& in, const Real* log_sum, Index batch, Index head, RowsAsked asked,
                  Real* weights, Real* scratch) {
  const AttentionSize& s = in.size;
  const Index queries = query_count(in, batch), keys = key_count(in, batch), block = block_of(in);
  const Index stride = score_stride(block);
  Real* packed = scratch;
  Real* scores = packed + block * s.width;
  Real* gathered = scores + kAttentionStrip * stride;
  const Real* query = head_of(in.query, in.query_strides, batch, head);
  const Real* key = head_of(in.key, in.key_strides, batch, head);
  std::fill_n(weights, asked.row_count * s.keys, Real{0});
  for (Index at = 0; at < keys; at += block) {
    const Index count = std::min(block, keys - at);
    pack_transposed(count, s.width, key + at * in.key_strides.row, in.key_strides.row, in.scale, packed);
    for (Index first = 0; first < asked.row_count; first += kAttentionStrip) {
      const Index rows = std::min(kAttentionStrip, asked.row_count - first);
      for (Index r = 0; r < rows; ++r)
        std::copy_n(query + asked.rows[first + r] * in.query_strides.row, s.width, gathered + r * s.width);
      multiply_strip({gathered, s.width, rows}, s.width, packed, 0, whole(count, panel_width()), scores, stride);
      for (Index r = 0; r < rows; ++r) {
        const Index i = asked.rows[first + r];
        const Columns columns = columns_of(seen_by(in, batch, head, i, i, {at, at + count}), at);
        const Real l = log_sum[(batch * s.heads + head) * s.queries + i];
        if (i >= queries || l == kHidden || columns.begin >= columns.end) continue;
        Real* row = scores + r * stride;
        finish_scores(in, {batch, head, i, at, 1, count, stride}, columns, row, nullptr);
        exp_and_sum(columns.padded - columns.begin, row + columns.begin, l);
        std::copy(row + columns.begin, row + columns.end, weights + (first + r) * s.keys + at + columns.begin);
      }
    }
  }
}

// The row's weights in place of its scores; returns Σ p (L - s).
HWY_INLINE Real weigh_row(Index n, Real* x, Real log_sum) {
  const V l = hn::Set(D(), log_sum);
  V total = set(0);
  for (Index i = 0; i < n; i += lanes()) {
    const V s = load(x + i), p = exp_shifted(s, l);
    total = hn::Add(total, hn::IfThenElseZero(hn::Gt(p, set(0)), hn::Mul(p, hn::Sub(l, s))));
    store(p, x + i);
  }
  return sum_lanes(total);
}

// Puts the weights into the descending list `top`; of equals the earlier key stays first.
HWY_INLINE void keep_largest(Index n, const Real* p, Index key, Index count, Real* top, Index* top_keys) {
  for (Index c = 0; c < n; ++c) {
    if (!(p[c] > top[count - 1])) continue;
    Index at = count - 1;
    for (; at > 0 && p[c] > top[at - 1]; --at) top[at] = top[at - 1], top_keys[at] = top_keys[at - 1];
    top[at] = p[c], top_keys[at] = key + c;
  }
}

void summarise_head(const AttentionInput& in, const Real* log_sum, const AttentionSummaries& out, Index batch,
                    Index head, Real* scratch) {
  const AttentionSize& s = in.size;
  const Index queries = query_count(in, batch), keys = key_count(in, batch), block = block_of(in);
  const Index stride = score_stride(block), at_head = batch * s.heads + head;
  Real* packed = scratch;
  Real* scores = packed + block * s.width;
  const Real* query = head_of(in.query, in.query_strides, batch, head);
  const Real* key = head_of(in.key, in.key_strides, batch, head);
  const Real* lse = log_sum + at_head * s.queries;
  if (out.entropy) std::fill_n(out.entropy + at_head * s.queries, s.queries, Real{0});
  if (out.top) {
    std::fill_n(out.top + at_head * s.queries * out.top_count, s.queries * out.top_count, Real{0});
    std::fill_n(out.top_keys + at_head * s.queries * out.top_count, s.queries * out.top_count, Index{-1});
  }
  if (out.column_sums) std::fill_n(out.column_sums + at_head * s.keys, s.keys, Real{0});
  for (Index at = 0; at < keys; at += block) {
    const Index count = std::min(block, keys - at);
    pack_transposed(count, s.width, key + at * in.key_strides.row, in.key_strides.row, in.scale, packed);
    for (Index first = 0; first < queries; first += kAttentionStrip) {
      const Index rows = std::min(kAttentionStrip, queries - first);
      const Columns columns = columns_of(seen_by(in, batch, head, first, first + rows - 1, {at, at + count}), at);
      if (columns.begin >= columns.end) continue;
      multiply_strip({query + first * in.query_strides.row, in.query_strides.row, rows}, s.width, packed, columns.begin,
                     columns.padded, scores, stride);
      finish_scores(in, {batch, head, first, at, rows, count, stride}, columns, scores, nullptr);
      for (Index r = 0; r < rows; ++r) {
        const Index i = at_head * s.queries + first + r, n = columns.end - columns.begin;
        if (lse[first + r] == kHidden) continue;
        Real* p = scores + r * stride + columns.begin;
        const Real entropy = weigh_row(columns.padded - columns.begin, p, lse[first + r]);
        if (out.entropy) out.entropy[i] += entropy;
        if (out.top)
          keep_largest(n, p, at + columns.begin, out.top_count, out.top + i * out.top_count,
                       out.top_keys + i * out.top_count);
        if (out.column_sums) {
          Real* sums = out.column_sums + at_head * s.keys + at + columns.begin;
          transform(n, sums, p, sums, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
        }
      }
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(rows_of_head);
HWY_EXPORT(summarise_head);

void attention_rows(const AttentionInput& in, const Real* log_sum, RowsAsked asked, Real* weights,
                    AttentionScratch scratch) {
  const Index heads = asked.head_count, piece = attention_scratch(in);
  for_each_slot(in.size.batch * heads, scratch.slots, [&](Index slot, Index begin, Index end) {
    for (Index at = begin; at < end; ++at) HWY_DYNAMIC_DISPATCH(rows_of_head)
    (in, log_sum, at / heads, asked.heads[at % heads], asked, weights + at * asked.row_count * in.size.keys,
     scratch.data + slot * piece);
  });
}

void attention_summaries(const AttentionInput& in, const Real* log_sum, const AttentionSummaries& out,
                         AttentionScratch scratch) {
  const Index heads = in.size.heads, piece = attention_scratch(in);
  for_each_slot(in.size.batch * heads, scratch.slots, [&](Index slot, Index begin, Index end) {
    for (Index at = begin; at < end; ++at) HWY_DYNAMIC_DISPATCH(summarise_head)
    (in, log_sum, out, at / heads, at % heads, scratch.data + slot * piece);
  });
}

}  // namespace heed::kernels
#endif
