#include <algorithm>
#include <cmath>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// What one slot works in; the tiles have kAttentionTile rows.
struct BackwardScratch {
  Real *keys_transposed, *values_transposed, *keys, *queries, *read_gradients;  // packed
  Real *weights, *score_gradients, *slopes;                                     // tiles
  Real* inner;                                                                  // D [queries]
};

BackwardScratch backward_scratch(const AttentionInput& in, Real* at) {
  const Index block = block_of(in), tile = kAttentionTile * score_stride(block);
  const Index width = whole(in.size.width, kAttentionPanel), value_width = whole(in.size.value_width, kAttentionPanel);
  BackwardScratch s{};
  const auto take = [&at](Real*& piece, Index size) {
    piece = at;
    at += size;
  };
  take(s.keys_transposed, block * width), take(s.values_transposed, block * value_width), take(s.keys, block * width);
  take(s.queries, kAttentionTile * width), take(s.read_gradients, kAttentionTile * value_width);
  take(s.weights, tile), take(s.score_gradients, tile), take(s.slopes, tile);
  s.inner = at;
  return s;
}

// Over whole panels: p := e^{s - L}, ds := p (dp - D).
HWY_INLINE void differentiate_row(Index n, Real log_sum, Real inner, Real* p, Real* ds) {
  const Index step = lanes();
  const V l = hn::Set(D(), log_sum), d = hn::Set(D(), inner);
  for (Index i = 0; i < n; i += 2 * step) {
    const V e = exp_shifted(load(p + i), l), g = exp_shifted(load(p + i + step), l);
    store(e, p + i), store(g, p + i + step);
    store(hn::Mul(e, hn::Sub(load(ds + i), d)), ds + i);
    store(hn::Mul(g, hn::Sub(load(ds + i + step), d)), ds + i + step);
  }
}

// Weights and score gradients of one tile, strip by strip; the strips of a tile share its columns, what a strip does
// not see is zero. Adds to the queries' gradient if wanted.
HWY_INLINE void differentiate_tile(const AttentionInput& in, const AttentionGradients& g, const BackwardPart& part,
                                   const BackwardScratch& scratch, const ScoreTile& tile, Columns all) {
  const AttentionSize& s = in.size;
  const Real* query = head_of(in.query, in.query_strides, part.batch, part.head);
  const Real* dread = head_of(g.read_gradient, g.read_gradient_strides, part.batch, part.head);
  const Real* log_sum = g.log_sum + (part.batch * s.heads + part.head) * s.queries;
  for (Index r = 0; r < tile.rows; r += kAttentionStrip) {
    const Index first = tile.query + r, rows = std::min(kAttentionStrip, tile.rows - r);
    Real* p = scratch.weights + r * tile.stride;
    Real* ds = scratch.score_gradients + r * tile.stride;
    Real* slopes = in.rule.slope ? scratch.slopes + r * tile.stride : nullptr;
    const Columns columns = columns_of(
        seen_by(in, part.batch, part.head, first, first + rows - 1, {tile.key, tile.key + tile.columns}), tile.key);
    ScoreTile strip = tile;
    strip.query = first, strip.rows = rows;
    if (columns.begin < columns.end) {
      multiply_strip({query + first * in.query_strides.row, in.query_strides.row, rows}, s.width,
                     scratch.keys_transposed, columns.begin, columns.padded, p, tile.stride);
      multiply_strip({dread + first * g.read_gradient_strides.row, g.read_gradient_strides.row, rows}, s.value_width,
                     scratch.values_transposed, columns.begin, columns.padded, ds, tile.stride);
      finish_scores(in, strip, columns, p, slopes);
    }
    for (Index i = 0; i < rows; ++i) {
      Real* p_row = p + i * tile.stride;
      Real* ds_row = ds + i * tile.stride;
      const bool empty = log_sum[first + i] == kHidden || columns.begin >= columns.end;
      const Index begin = empty ? all.padded : columns.begin, end = empty ? all.padded : columns.padded;
      for (Real* row : {p_row, ds_row}) {
        std::fill(row + all.begin, row + begin, Real{0});
        std::fill(row + end, row + all.padded, Real{0});
      }
      if (empty) continue;
      differentiate_row(end - begin, log_sum[first + i], scratch.inner[first + i], p_row + begin, ds_row + begin);
      if (slopes) {  // where nothing is seen the weight is 0, and the slope may be anything
        const Real* slope = slopes + i * tile.stride;
        for (Index c = columns.begin; c < columns.end; ++c) ds_row[c] = p_row[c] == 0 ? 0 : ds_row[c] * slope[c];
      }
    }
    if (part.query && columns.begin < columns.end)
      multiply_add<false>({ds + columns.begin, tile.stride, rows}, columns.begin, columns.end - columns.begin,
                          scratch.keys, tile.columns, s.width,
                          head_of(g.query, g.query_strides, part.batch, part.head) + first * g.query_strides.row,
                          g.query_strides.row);
  }
}

void backward_head(const AttentionInput& in, const AttentionGradients& g, const BackwardPart& part, Real* memory) {
  const AttentionSize& s = in.size;
  const Index batch = part.batch, head = part.head;
  const Index queries = query_count(in, batch), keys = key_count(in, batch);
  const Index block = block_of(in), stride = score_stride(block);
  const BackwardScratch scratch = backward_scratch(in, memory);
  const Real* query = head_of(in.query, in.query_strides, batch, head);
  const Real* key = head_of(in.key, in.key_strides, batch, head);
  const Real* value = head_of(in.value, in.value_strides, batch, head);
  const Real* read = head_of(g.read, g.read_strides, batch, head);
  const Real* dread = head_of(g.read_gradient, g.read_gradient_strides, batch, head);

  const Index first_row = part.tile_begin * kAttentionTile, last_row = part.tile_end * kAttentionTile;
  for (Index i = first_row; i < std::min(last_row, queries); ++i)
    scratch.inner[i] = dot(s.value_width, read + i * g.read_strides.row, dread + i * g.read_gradient_strides.row);
  if (part.query)
    for (Index i = first_row; i < std::min(last_row, s.queries); ++i)
      std::fill_n(head_of(g.query, g.query_strides, batch, head) + i * g.query_strides.row, s.width, Real{0});
  Real* dkey = part.keys ? head_of(g.key, g.key_strides, batch, head) : nullptr;
  Real* dvalue = part.keys ? head_of(g.value, g.value_strides, batch, head) : nullptr;
  if (part.keys) {
    for (Index j = part.block_begin * block; j < std::min(part.block_end * block, s.keys); ++j) {
      std::fill_n(dkey + j * g.key_strides.row, s.width, Real{0});
      std::fill_n(dvalue + j * g.value_strides.row, s.value_width, Real{0});
    }
  }

  for (Index at = part.block_begin * block; at < std::min(part.block_end * block, keys); at += block) {
    const Index count = std::min(block, keys - at);
    bool packed = false;
    for (Index first = first_row; first < std::min(last_row, queries); first += kAttentionTile) {
      const Index rows = std::min(kAttentionTile, queries - first);
      const Columns columns = columns_of(seen_by(in, batch, head, first, first + rows - 1, {at, at + count}), at);
      if (columns.begin >= columns.end) continue;
      if (!packed) {
        const Real* k = key + at * in.key_strides.row;
        const Real* v = value + at * in.value_strides.row;
        pack_transposed(count, s.width, k, in.key_strides.row, in.scale, scratch.keys_transposed);
        pack_transposed(count, s.value_width, v, in.value_strides.row, 1, scratch.values_transposed);
        if (part.query) pack_rows(count, s.width, k, in.key_strides.row, in.scale, scratch.keys);
        packed = true;
      }
      const ScoreTile tile{batch, head, first, at, rows, count, stride};
      differentiate_tile(in, g, part, scratch, tile, columns);
      if (!part.keys) continue;
      pack_rows(rows, s.value_width, dread + first * g.read_gradient_strides.row, g.read_gradient_strides.row, 1,
                scratch.read_gradients);
      pack_rows(rows, s.width, query + first * in.query_strides.row, in.query_strides.row, in.scale, scratch.queries);
      const Index seen = columns.end - columns.begin, j = at + columns.begin;
      multiply_add<true>({scratch.weights + columns.begin, stride, seen}, 0, rows, scratch.read_gradients, rows,
                         s.value_width, dvalue + j * g.value_strides.row, g.value_strides.row);
      multiply_add<true>({scratch.score_gradients + columns.begin, stride, seen}, 0, rows, scratch.queries, rows,
                         s.width, dkey + j * g.key_strides.row, g.key_strides.row);
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(backward_head);

Index attention_backward_scratch(const AttentionInput& in) {
  const Index block = block_of(in), width = whole(in.size.width, kAttentionPanel),
              value_width = whole(in.size.value_width, kAttentionPanel);
  return whole(
      (block + kAttentionTile) * (2 * width + value_width) + 3 * kAttentionTile * score_stride(block) + in.size.queries,
      16);
}

// One pass over a head gives all gradients with five products of tiles. With too few heads for the threads it takes
// two passes, one over blocks of keys and one over tiles of queries, with seven products; each sum is formed in the
// same order, so the numbers are the same.
void attention_backward(const AttentionInput& in, const AttentionGradients& g, AttentionScratch scratch) {
  const Index heads = in.size.heads, all = in.size.batch * heads, piece = attention_backward_scratch(in);
  const Index tiles = (in.size.queries + kAttentionTile - 1) / kAttentionTile;
  const Index blocks = (in.size.keys + block_of(in) - 1) / block_of(in);
  const auto run = [&](Index slot, BackwardPart part) {
    HWY_DYNAMIC_DISPATCH(backward_head)(in, g, part, scratch.data + slot * piece);
  };
  const Index slots = std::max<Index>(1, std::min<Index>(scratch.slots, thread_count()));
  const Index busiest = (all + slots - 1) / slots;
  if (5 * busiest * slots <= 7 * all) {
    for_each_slot(all, slots, [&](Index slot, Index begin, Index end) {
      for (Index at = begin; at < end; ++at)
        run(slot, {at / heads, at % heads, 0, tiles, 0, blocks, g.query != nullptr, g.key != nullptr});
    });
    return;
  }
  if (g.key)
    for_each_slot(all * blocks, slots, [&](Index slot, Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index at = task / blocks, block = from_both_ends(task % blocks, blocks);
        run(slot, {at / heads, at % heads, 0, tiles, block, block + 1, false, true});
      }
    });
  if (g.query)
    for_each_slot(all * tiles, slots, [&](Index slot, Index begin, Index end) {
      while (begin < end) {
        const Index at = begin / tiles, stop = std::min(end, (at + 1) * tiles);
        run(slot, {at / heads, at % heads, begin - at * tiles, stop - at * tiles, 0, blocks, true, false});
        begin = stop;
      }
    });
}

}  // namespace heed::kernels
#endif
