#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/autograd/var.h"
#include "heed/kernels/attention.h"

// The dot-product family as one op that never stores the n × m weights (Vaswani et al. 2017, eq. 1; in tiles after Dao
// et al. 2022):
//   read(i) = Σ_j softmax_j(f(scale q(i)·k(j))) v(j) over the keys j that i may see
// Its definition with ordinary ops is softmax(scale · matmul(q, kᵀ), mask) · v; tests hold the two together.

namespace heed {

using kernels::Band;

// How scores are changed and which pairs may be seen, with the functors that the calls refer to. attend.h makes one
// from a user's lambdas.
struct ScoreRule {
  kernels::ScoreRule calls;
  std::shared_ptr<const void> functors;
};

struct FusedOptions {
  std::optional<Real> scale;         // 1/√d unless given
  std::vector<Index> key_lengths;    // [B] or empty: the first so many keys of a sentence exist
  std::vector<Index> query_lengths;  // [B] or empty: the same for queries; the others read zeros
  Band band;                         // which keys around its own position a query may see
  ScoreRule rule;
  Index key_block = 512;  // keys in a tile
  // attend_one: keys and values at position j of sentence b stand in row rows[b, j] of theirs; empty: in row b.
  Ids rows = {};         // [B, m]
  bool weights = false;  // attend_one: they will be asked for, so they are kept
};

// Query i may see keys j <= i.
inline Band causal() { return {Band::kAll, 0}; }
// The neighbours at most r/2 away (Vaswani et al. 2017, section 4).
Band restricted(Index r);

// The band for queries of which the first stands at `position`, not at 0.
Band shifted(Band band, Index position);
// What `score` does to scores and what `window` hides, as one rule.
ScoreRule joined(const ScoreRule& score, const ScoreRule& window);

// The read, and the weights for whoever asks.
class FusedAttention {
 public:
  Var read;        // [B, H, n, dv]
  Tensor log_sum;  // [B, H, n]: log Σ_j e^{score}, -infinity where nothing is seen

  Shape weights_shape() const { return log_sum.shape().append(key_.size(2)); }  // [B, H, n, m]
  // Weights of some rows of some heads, rebuilt from log_sum: [B, heads, rows, m]. An empty list means all.
  Tensor weights(const std::vector<Index>& rows = {}, const std::vector<Index>& heads = {}) const;

  struct Summaries {
    Tensor entropy;            // [B, H, n] = -Σ p log p
    Tensor top;                // [B, H, n, k]: the largest weights, falling
    TensorOf<Index> top_keys;  // [B, H, n, k]: where they stand; -1 where fewer than k are seen
    Tensor column_sums;        // [B, H, m]: what each key got from all queries
  };
  Summaries summaries(Index top_count = 1) const;

 private:
  friend FusedAttention attend_fused(const Var&, const Var&, const Var&, FusedOptions);
  friend FusedAttention attend_one(const Tensor&, const Tensor&, const Tensor&, FusedOptions);
  std::shared_ptr<const FusedOptions> options_;
  Tensor query_, key_, value_;
  Tensor kept_;  // weights of a step [B, H, 1, m]; empty if nobody was to ask for them
};

// Position j of row i as it stands in row rows[i, j] of x: [B, H, m, width] of [any, H, m, width].
Tensor gathered_cache(const Tensor& x, const Ids& rows);

// q [B, H, n, d], k [B, H, m, d], v [B, H, m, dv]; views such as the heads of [B, n, H, d] are read in place, and the
// read gets the layout of q.
FusedAttention attend_fused(const Var& q, const Var& k, const Var& v, FusedOptions options = {});

// A decoding step without a gradient: one query, q [B, H, 1, d], over a cache whose first key_lengths (or all) keys and
// values are there. No rule.
FusedAttention attend_one(const Tensor& q, const Tensor& k, const Tensor& v, FusedOptions options = {});
// The read alone.
Tensor attend_step(const Tensor& q, const Tensor& k, const Tensor& v, const FusedOptions& options = {});

}  // namespace heed
