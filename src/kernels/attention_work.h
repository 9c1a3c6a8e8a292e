#pragma once

#include <algorithm>

#include "heed/base/threads.h"
#include "heed/kernels/attention.h"

// How the attention kernels cut their work: private to src/kernels.

namespace heed::kernels {

// Queries are taken a strip at a time forward, a tile of strips at a time backward.
constexpr Index kAttentionStrip = 12, kAttentionTile = 4 * kAttentionStrip;
// Keys of a cache that one task of a decoding step reads.
constexpr Index kAttentionStepBlock = 512;
// Two vectors of the widest target.
constexpr Index kAttentionPanel = 2 * 64 / static_cast<Index>(sizeof(Real));

inline Index whole(Index count, Index unit) { return (count + unit - 1) / unit * unit; }
inline Index block_of(const AttentionInput& in) {
  return whole(std::clamp<Index>(in.key_block, 1, std::max<Index>(in.size.keys, 1)), kAttentionPanel);
}
// The distance of two rows of scores: rows must not fall on the same cache sets.
inline Index score_stride(Index block) { return block + 16; }

inline Index key_count(const AttentionInput& in, Index batch) {
  return in.key_lengths ? in.key_lengths[batch] : in.size.keys;
}
inline Index query_count(const AttentionInput& in, Index batch) {
  return in.query_lengths ? in.query_lengths[batch] : in.size.queries;
}

// The keys of one block that any query in [first, last] may see.
inline KeyRange seen_by(const AttentionInput& in, Index batch, Index head, Index first, Index last, KeyRange block) {
  const KeyRange seen{std::max(block.begin, first - in.band.before), std::min(block.end, last + in.band.after + 1)};
  if (!in.rule.range || seen.begin >= seen.end) return seen;
  const KeyRange own = in.rule.range(in.rule.context, batch, head, first, last, seen);
  return {std::max(seen.begin, own.begin), std::min(seen.end, own.end)};
}

// Calls body(slot, begin, end) for an even share of `tasks` for each slot.
template <class Body>
void for_each_slot(Index tasks, Index slots, const Body& body) {
  const Index used = std::max<Index>(1, std::min(tasks, slots));
  parallel_for(used, 1, [&](Index first, Index last) {
    for (Index slot = first; slot < last; ++slot) body(slot, tasks * slot / used, tasks * (slot + 1) / used);
  });
}

// The order in which the pieces of one head are handed out: from both ends inwards, so that contiguous shares have
// equal work under a causal window too.
inline Index from_both_ends(Index i, Index count) { return i % 2 == 0 ? i / 2 : count - 1 - i / 2; }

// Query tiles and key blocks [begin, end) of one head, and which gradients they are to give. Gradients of the keys and
// values of these blocks, and of the queries of these tiles, are complete if all tiles, or all blocks, are there.
struct BackwardPart {
  Index batch, head, tile_begin, tile_end, block_begin, block_end;
  bool query, keys;
};

inline const Real* head_of(const Real* data, HeadStrides s, Index batch, Index head) {
  return data + batch * s.batch + head * s.head;
}
inline Real* head_of(Real* data, HeadStrides s, Index batch, Index head) {
  return data + batch * s.batch + head * s.head;
}

}  // namespace heed::kernels
