#pragma once

#include <functional>
#include <optional>

#include "heed/attention/fused.h"

namespace heed {

// The weights of one call of attention, [batch, heads, n, m], for whoever asks. A call by the definition has them at
// hand. A fused one has never stored them: they are computed when asked for, each time anew, and cost nothing until
// then.
class AttentionWeights {
 public:
  using Summaries = FusedAttention::Summaries;

  AttentionWeights() = default;
  AttentionWeights(Var computed) : computed_(std::move(computed)) {}  // NOLINT: weights that are there
  // `composed` computes them by the definition, with their gradient.
  AttentionWeights(FusedAttention fused, std::function<Var()> composed)
      : fused_(std::move(fused)), composed_(std::move(composed)) {}

  // All of them, with a gradient where one is recorded. After a fused call this composes them; who needs that in every
  // call asks with Query::weights and pays once.
  Var var() const;
  operator Var() const { return var(); }  // NOLINT: they are one
  // The numbers alone, after a fused call rebuilt from its log-sum-exp.
  Tensor value() const { return rows({}); }
  // Some rows of some heads, [batch, heads, rows, m]; an empty list means all.
  Tensor rows(const std::vector<Index>& rows, const std::vector<Index>& heads = {}) const;
  // What can be said of them without keeping them.
  Summaries summaries(Index top_count = 1) const;

  Shape shape() const;
  bool computed() const { return static_cast<bool>(computed_); }
  explicit operator bool() const { return computed_ || fused_; }

 private:
  Var computed_;
  std::optional<FusedAttention> fused_;
  std::function<Var()> composed_;
};

}  // namespace heed
