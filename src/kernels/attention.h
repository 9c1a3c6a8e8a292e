#pragma once

#include <limits>

#include "heed/base/real.h"

// Scaled dot-product attention in tiles (Milakov & Gimelshein 2018, "Online normalizer calculation for softmax";
// Dao et al. 2022, "FlashAttention"): the matrix of scores is made strip by strip and never stored.
//   s(i, j) = f(scale q(i)·k(j)) where visible, -infinity elsewhere;  o(i) = Σ_j e^{s(i,j) - L(i)} v(j),
//   L(i) = log Σ_j e^{s(i,j)}
// A row with nothing visible has o = 0, L = -infinity and no gradient. What row i of sentence b gets depends only on
// that sentence and its own lengths, bit for bit: not on its neighbours in the batch, nor on the number of threads.

namespace heed::kernels {

// Element (b, h, i, c) stands at data + b batch + h head + i row + c: [B, H, n, d] and [B, n, H, d] alike.
struct HeadStrides {
  Index batch, head, row;
};
struct AttentionSize {
  Index batch, heads, queries, keys, width, value_width;
};
// Query i may see key j where -before <= j - i <= after.
struct Band {
  static constexpr Index kAll = std::numeric_limits<Index>::max() / 4;
  Index before = kAll, after = kAll;
};

// A rectangle of the score matrix: the pair (query + r, key + c) stands at scores[r * stride + c].
struct ScoreTile {
  Index batch, head, query, key, rows, columns, stride;
};
struct KeyRange {
  Index begin, end;
};
// A user's own scores and visibility, called a tile at a time so that the loop over pairs is the caller's to inline.
struct ScoreRule {
  const void* context = nullptr;
  void (*apply)(const void*, const ScoreTile&, Real* scores) = nullptr;                   // scores := f(scores)
  void (*slope)(const void*, const ScoreTile&, const Real* raw, Real* slopes) = nullptr;  // f'(raw); null: 1
  void (*hide)(const void*, const ScoreTile&, Real* scores) = nullptr;                    // -infinity where not visible
  // Of the keys `within`, no query in [first, last] sees one outside the range returned: such keys are skipped. Inside
  // it `hide` decides.
  KeyRange (*range)(const void*, Index batch, Index head, Index first, Index last, KeyRange within) = nullptr;
};

// Where the keys and values of a cache stand: those at position j of sentence b in its row data[b * stride + j]. Null:
// in row b.
struct CacheRows {
  const std::int32_t* data = nullptr;
  Index stride = 0;
};

struct AttentionInput {
  AttentionSize size;
  const Real *query, *key, *value;  // [.., queries, width], [.., keys, width], [.., keys, value_width]
  HeadStrides query_strides, key_strides, value_strides;
  Real scale = 1;
  const Index* key_lengths = nullptr;    // [batch]; keys and values from there on are never read
  const Index* query_lengths = nullptr;  // [batch]; queries from there on are empty rows
  Band band = {};
  ScoreRule rule = {};
  Index key_block = 512;  // keys packed at a time; rounded up to whole panels
  CacheRows rows = {};    // attention_step only
};
struct AttentionOutput {
  Real* read;  // [.., queries, value_width]
  HeadStrides strides;
  Real* log_sum;            // [B, H, queries]
  Real* weights = nullptr;  // [B, H, keys], attention_step only: null where not wanted
};
struct AttentionGradients {
  const Real* read;  // as AttentionOutput
  const Real* read_gradient;
  HeadStrides read_strides, read_gradient_strides;
  const Real* log_sum;
  // Written, not added to; null where not wanted (key and value are wanted together).
  Real *query, *key, *value;
  HeadStrides query_strides, key_strides, value_strides;
};

// Memory the kernels work in: `slots` pieces of attention_scratch(...) elements each, aligned to 64 bytes. Work is
// split over at most `slots` threads.
struct AttentionScratch {
  Real* data;
  Index slots;
};
Index attention_scratch(const AttentionInput& in);
Index attention_backward_scratch(const AttentionInput& in);

void attention(const AttentionInput& in, const AttentionOutput& out, AttentionScratch scratch);
// The scores are computed again from log_sum, tile by tile:
//   p = e^{s - L}, D(i) = do(i)·o(i), dv(j) = Σ p do(i), ds = p (do(i)·v(j) - D(i)) f'(..) scale,
//   dq(i) = Σ ds k(j), dk(j) = Σ ds q(i)
void attention_backward(const AttentionInput& in, const AttentionGradients& gradients, AttentionScratch scratch);

// weights [B, head_count, row_count, keys] of the heads and rows asked for, from log_sum. Needs attention_scratch.
struct RowsAsked {
  const Index *heads, *rows;
  Index head_count, row_count;
};
void attention_rows(const AttentionInput& in, const Real* log_sum, RowsAsked asked, Real* weights,
                    AttentionScratch scratch);

// What can be said of the weights without storing them; null where not wanted.
//   entropy [B, H, queries] = -Σ p log p; top [B, H, queries, top_count] the largest weights, first the largest, and
//   the keys they stand at (0 and -1 where there are fewer); column_sums [B, H, keys] = Σ_i p(i, j).
struct AttentionSummaries {
  Real* entropy = nullptr;
  Real* top = nullptr;
  Index* top_keys = nullptr;
  Index top_count = 0;
  Real* column_sums = nullptr;
};
void attention_summaries(const AttentionInput& in, const Real* log_sum, const AttentionSummaries& out,
                         AttentionScratch scratch);

// One query a head (size.queries = 1) over a cache: keys and values are streamed once. band and rule are not used.
// read [.., 1, value_width]; log_sum may be null.
Index attention_step_scratch(const AttentionSize& size);  // in all, not per slot
void attention_step(const AttentionInput& in, const AttentionOutput& out, Real* scratch);

}  // namespace heed::kernels
