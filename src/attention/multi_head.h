#pragma once

#include "heed/attention/attention.h"
#include "heed/nn/linear.h"

namespace heed {

// Vaswani et al. 2017, multi-head attention around any composition.
//   head_h = attention(x W_h^Q, y W_h^K, y W_h^V),  result = [head_1; …; head_H] W^O
struct MultiHeadOptions {
  Index width = 0;  // of the model; divisible by the heads
  AttentionOptions attention;
  bool output = true;  // false: the heads are joined, without W^O
};
class MultiHead {
 public:
  MultiHead(const Scope& scope, const MultiHeadOptions& options);

  // From y [batch, m, width]; made once per sentence, used by every step.
  Memory memory(const Var& y, const Ids& lengths = {}) const;
  // The memory with y [batch, k, width] behind what it has, for decoding step by step: only the new positions are
  // mapped. Starts from Memory{} too. See Attention::extended.
  Memory extended(const Memory& memory, const Var& y) const;

  struct Result {
    Var read;                  // [batch, n, width]
    AttentionWeights weights;  // [batch, heads, n, m], on request
    Past past;                 // as Attended
    Weighted sampled;
  };
  // The query's vectors are x [batch, n, width]; the rest of it goes to the attention as it is.
  Result operator()(const Query& query, const Memory& memory) const;
  // Queries x [batch, n, width], the first at `position` of its sequence.
  Result operator()(const Var& x, const Memory& memory, Index position = 0) const;
  Carries carries() const { return attention_.carries(); }

 private:
  Var split_heads(const Var& x) const;
  Index heads_;
  Linear query_, key_, value_, output_;
  Attention attention_;
};

}  // namespace heed
