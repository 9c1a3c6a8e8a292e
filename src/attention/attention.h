#pragma once

#include <memory>
#include <string>

#include "heed/attention/attention_weights.h"
#include "heed/attention/parts.h"

namespace heed {

// What one call of attention gives.
struct Attended {
  Var read;                  // [batch, heads, n, value]
  AttentionWeights weights;  // [batch, heads, n, m], on request; of a local-p window with its gain
  Past past;                 // for the next step; only what the parts declare is filled
  Weighted sampled;          // log-probability and entropy of a hard choice
};

// One composition score × window × normaliser × reader, with the parameters of its parts. The reader is the weighted
// sum; with a hard normaliser the weights are one-hot and it is the picked value.
//
// Where all three parts declare what they are to the fused kernel (parts.h), it computes the read without ever holding
// the weights; otherwise, or if the query asks for it, the parts are composed, which is the definition.
class Attention {
 public:
  // Parts are looked up by name; an unknown one, or a combination that makes no sense, is an Error that says why.
  Attention(const Scope& scope, const AttentionOptions& options);

  // Keys and values [batch, m, width] (one head) or [batch, heads, m, width]; lengths [batch], empty: all m.
  Memory memory(const Var& keys, const Var& values, const Ids& lengths = {}) const;
  // The memory with further keys and values [batch, k, width] or [batch, heads, k, width] behind its own, as decoding
  // step by step needs it: what is there is neither prepared nor, most times, copied again. A memory without keys
  // (Memory{}) grows too. None of its sentences may be padded.
  Memory extended(const Memory& memory, const Var& keys, const Var& values) const;
  Attended operator()(const Query& query, const Memory& memory) const;

  const AttentionOptions& options() const { return options_; }
  Carries carries() const;
  // Whether the score reads the queries' vectors, and how many rows of weights it makes of so many (parts.h).
  bool asks() const { return parts_->score->asks(); }
  Index rows(Index queries) const { return parts_->score->rows(queries); }

 private:
  // Shared with the weights of fused calls, which may be asked for later.
  struct Parts {
    std::unique_ptr<Score> score;
    std::unique_ptr<Window> window;
    std::unique_ptr<Normaliser> normaliser;
    // e = score(q, k),  α = normalise(e within the window) ∘ gain
    struct Composed {
      Weighted normalised;
      Var weights;
    };
    Composed compose(const Query& query, const Memory& memory) const;
  };
  std::optional<Attended> fused(const Query& query, const Memory& memory) const;
  // Whether a fused step reads keys and values in whatever rows they stand.
  bool reads_by_reference() const;
  // Whether rows of a batch that look at one memory may ask it together, as its queries.
  bool asks_together() const;
  // One query of each row, without a gradient; nothing if this way does not do for it.
  std::optional<Attended> together(const Query& query, const Memory& memory) const;

  AttentionOptions options_;
  std::shared_ptr<const Parts> parts_;
};

// What a score declares of itself. An unknown name is an Error.
const PartEntry<Score>& score_named(const std::string& name);
// An Error that says why if a part has an unknown name or the parts contradict each other.
void check_parts(const AttentionOptions& options);

// Lengths [batch] fit for use: an Error that names the op if one is outside 0..m; all m if none are given.
Ids checked_lengths(const char* op, const Ids& lengths, Index batch, Index m);
// [batch, m]: true below each length.
Mask padding_mask(const Ids& lengths, Index m);
// Both must allow; shapes broadcast. An empty mask allows all.
Mask both(const Mask& a, const Mask& b);
// 1 where the mask allows, 0 elsewhere, in a shape it broadcasts to; an empty mask allows all.
Tensor as_numbers(const Mask& mask, const Shape& shape);

}  // namespace heed
