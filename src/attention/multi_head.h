#pragma once

#include "heed/attention/attention.h"
#include "heed/nn/linear.h"

namespace heed {

// Vaswani et al. 2017, multi-head attention around any composition.
//   head_h = attention(x W_h^Q, y W_h^K, y W_h^V),  result = [head_1; …; head_H] W^O
struct MultiHeadOptions {
  Index width = 0;  // of the model; divisible by the heads
  AttentionOptions attention;
};
class MultiHead {
 public:
  MultiHead(const Scope& scope, const MultiHeadOptions& options);

  // From y [batch, m, width]; made once per sentence, used by every step.
  Memory memory(const Var& y, const Ids& lengths = {}) const;
  // The memory with y [batch, k, width] added at its end, for decoding word by word; an empty memory begins one.
  Memory extended(const Memory& before, const Var& y) const;
  struct Result {
    Var read;     // [batch, n, width]
    Var weights;  // [batch, heads, n, m]
  };
  // Queries x [batch, n, width], the first at `position` of its sequence.
  Result operator()(const Var& x, const Memory& memory, Index position = 0) const;

 private:
  Var split_heads(const Var& x) const;
  Index heads_;
  Linear query_, key_, value_, output_;
  Attention attention_;
};

}  // namespace heed
