#include "heed/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/attention_work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Softmax of a strip on top of what the rows have seen: the scores become e^{s - m} with the new largest score m, and
// sum and read are brought to it.
HWY_INLINE void renew_rows(const ScoreTile& t, Columns columns, Index value_width, Real* scores, Real* top, Real* sum,
                           Real* read, Index read_row) {
  const Index n = columns.padded - columns.begin;
  Real largest[kAttentionStrip];
  for (Index r = 0; r < t.rows; ++r) largest[r] = largest_of(n, scores + r * t.stride + columns.begin);
  for (Index r = 0; r < t.rows; ++r) {
    const Real before = top[r], now = std::max(before, largest[r]);
    const Real total = exp_and_sum(n, scores + r * t.stride + columns.begin, now == kHidden ? Real{0} : now);
    if (now == before || before == kHidden) {
      sum[r] += total;
    } else {
      const Real factor = std::exp(before - now);
      sum[r] = sum[r] * factor + total;
      const V f = hn::Set(D(), factor);
      transform(value_width, read + r * read_row, read + r * read_row, [&](V x) HWY_ATTR { return hn::Mul(x, f); });
    }
    top[r] = now;
  }
}

// Strips [begin, end) of one head, in the order of from_both_ends.
void attend_head(const AttentionInput& in, const AttentionOutput& out, Index batch, Index head, Index begin, Index end,
                 Real* scratch) {
  const AttentionSize& s = in.size;
  const Index queries = query_count(in, batch), keys = key_count(in, batch);
  const Index block = block_of(in), stride = score_stride(block);
  const Index strips = (s.queries + kAttentionStrip - 1) / kAttentionStrip;
  Real* packed_keys = scratch;
  Real* packed_values = packed_keys + block * s.width;
  Real* scores = packed_values + block * whole(s.value_width, kAttentionPanel);
  Real* sums = scores + kAttentionStrip * stride;  // [queries]
  const Real* query = head_of(in.query, in.query_strides, batch, head);
  const Real* key = head_of(in.key, in.key_strides, batch, head);
  const Real* value = head_of(in.value, in.value_strides, batch, head);
  Real* read = head_of(out.read, out.strides, batch, head);
  Real* tops = out.log_sum + (batch * s.heads + head) * s.queries;  // the largest score so far, then the log-sum

  for (Index task = begin; task < end; ++task) {
    const Index first = from_both_ends(task, strips) * kAttentionStrip;
    for (Index i = first; i < std::min(first + kAttentionStrip, s.queries); ++i) {
      tops[i] = kHidden, sums[i] = 0;
      std::fill_n(read + i * out.strides.row, s.value_width, Real{0});
    }
  }
  for (Index at = 0; at < keys; at += block) {
    const Index count = std::min(block, keys - at);
    bool packed = false;
    for (Index task = begin; task < end; ++task) {
      const Index first = from_both_ends(task, strips) * kAttentionStrip;
      const Index rows = std::min(kAttentionStrip, queries - first);
      if (rows <= 0) continue;
      const Columns columns = columns_of(seen_by(in, batch, head, first, first + rows - 1, {at, at + count}), at);
      if (columns.begin >= columns.end) continue;
      if (!packed) {
        pack_transposed(count, s.width, key + at * in.key_strides.row, in.key_strides.row, in.scale, packed_keys);
        pack_rows(count, s.value_width, value + at * in.value_strides.row, in.value_strides.row, 1, packed_values);
        packed = true;
      }
      const ScoreTile tile{batch, head, first, at, rows, count, stride};
      Real* to = read + first * out.strides.row;
      multiply_strip({query + first * in.query_strides.row, in.query_strides.row, rows}, s.width, packed_keys,
                     columns.begin, columns.padded, scores, stride);
      finish_scores(in, tile, columns, scores, nullptr);
      renew_rows(tile, columns, s.value_width, scores, tops + first, sums + first, to, out.strides.row);
      multiply_add<false>({scores + columns.begin, stride, rows}, columns.begin, columns.end - columns.begin,
                          packed_values, count, s.value_width, to, out.strides.row);
    }
  }
  for (Index task = begin; task < end; ++task) {
    const Index first = from_both_ends(task, strips) * kAttentionStrip;
    for (Index i = first; i < std::min(first + kAttentionStrip, queries); ++i) {
      if (tops[i] == kHidden) continue;
      const V inverse = hn::Set(D(), 1 / sums[i]);
      Real* row = read + i * out.strides.row;
      transform(s.value_width, row, row, [&](V x) HWY_ATTR { return hn::Mul(x, inverse); });
      tops[i] += std::log(sums[i]);
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(attend_head);

Index attention_scratch(const AttentionInput& in) {
  const Index block = block_of(in);
  return whole(block * (in.size.width + whole(in.size.value_width, kAttentionPanel)) +
                   kAttentionStrip * (score_stride(block) + in.size.width) + in.size.queries,
               16);
}

void attention(const AttentionInput& in, const AttentionOutput& out, AttentionScratch scratch) {
  const Index strips = (in.size.queries + kAttentionStrip - 1) / kAttentionStrip, piece = attention_scratch(in);
  for_each_slot(in.size.batch * in.size.heads * strips, scratch.slots, [&](Index slot, Index begin, Index end) {
    while (begin < end) {
      const Index at = begin / strips, stop = std::min(end, (at + 1) * strips);
      HWY_DYNAMIC_DISPATCH(attend_head)
      (in, out, at / in.size.heads, at % in.size.heads, begin - at * strips, stop - at * strips,
       scratch.data + slot * piece);
      begin = stop;
    }
  });
}

}  // namespace heed::kernels
#endif
