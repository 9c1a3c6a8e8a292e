#pragma once

#include <memory>
#include <string>

#include "heed/attention/parts.h"

namespace heed {

// What one call of attention gives.
struct Attended {
  Var read;          // [batch, heads, n, value]
  Var weights;       // [batch, heads, n, m]; of a local-p window with its gain
  Past past;         // for the next step; only what the parts declare is filled
  Weighted sampled;  // log-probability and entropy of a hard choice
};

// One composition score × window × normaliser × reader, with the parameters of its parts. The reader is the weighted
// sum; with a hard normaliser the weights are one-hot and it is the picked value.
class Attention {
 public:
  // Parts are looked up by name; an unknown one, or a combination that makes no sense, is an Error that says why.
  Attention(const Scope& scope, const AttentionOptions& options);

  // Keys and values [batch, m, width] (one head) or [batch, heads, m, width]; lengths [batch], empty: all m.
  Memory memory(const Var& keys, const Var& values, const Ids& lengths = {}) const;
  Attended operator()(const Query& query, const Memory& memory) const;

  const AttentionOptions& options() const { return options_; }
  Carries carries() const;

 private:
  AttentionOptions options_;
  std::unique_ptr<Score> score_;
  std::unique_ptr<Window> window_;
  std::unique_ptr<Normaliser> normaliser_;
};

// Lengths [batch] fit for use: an Error that names the op if one is outside 0..m; all m if none are given.
Ids checked_lengths(const char* op, const Ids& lengths, Index batch, Index m);
// [batch, m]: true below each length.
Mask padding_mask(const Ids& lengths, Index m);
// Both must allow; shapes broadcast. An empty mask allows all.
Mask both(const Mask& a, const Mask& b);
// 1 where the mask allows, 0 elsewhere, in a shape it broadcasts to; an empty mask allows all.
Tensor as_numbers(const Mask& mask, const Shape& shape);

}  // namespace heed
