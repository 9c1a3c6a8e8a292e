#pragma once

#include <memory>

#include "heed/attention/attention.h"
#include "heed/base/random.h"

namespace heed {

// A sequence becomes `rows` vectors: each row of weights over it reads one.
//   A = normalise(score(u, H)),  M = A H
// A score that asks gets a learned vector u per row; context and rows have theirs in them, and uniform is the mean.
class Pooling {
 public:
  Pooling() = default;
  // `model` leads errors: an attention that remembers its last step has no step here, and a sampled choice no reward.
  Pooling(const char* model, const Scope& scope, AttentionOptions options, Index width, Index rows = 1);

  struct Result {
    Var read;     // [batch, rows, width]
    Var weights;  // [batch, rows, m]
  };
  // Annotations [batch, m, width]; gates [batch, rows, m] as ForwardOptions has them, or empty.
  Result operator()(const Var& annotations, const Ids& lengths, const Var& gates = {}) const;

 private:
  std::shared_ptr<const Attention> attention_;
  Var queries_;  // [1, 1, rows, width]; zeros if the score does not ask
};

}  // namespace heed
