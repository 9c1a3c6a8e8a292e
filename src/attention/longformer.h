#pragma once

#include "heed/attention/multi_head.h"

namespace heed {

// Beltagy, Peters, Cohan 2020, Longformer: self-attention over long texts. Positions see their neighbours and the
// global tokens; the global tokens, the first ones, see all positions, through projections of their own.
//   i >= g:  head = softmax(q_i Kᵀ / √d) V            over |i - j| <= w/2 or j < g
//   i <  g:  head = softmax(q°_i K°ᵀ / √d) V°         over all j;  q°, K°, V° from W^Q°, W^K°, W^V°
//   result = [head_1; …; head_H] W^O, shared by both
class Longformer {
 public:
  // Heads, neighbours w and global tokens g are those of the options; score, window and normaliser are the paper's.
  Longformer(const Scope& scope, const MultiHeadOptions& options);

  // x [batch, n, width] → [batch, n, width].
  Var operator()(const Var& x, const Ids& lengths = {}) const;

 private:
  Index global_tokens_;
  MultiHead sliding_, global_;
  Linear output_;
};

}  // namespace heed
