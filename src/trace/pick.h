#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/trace/trace.h"
#include "heed/metrics/aer.h"

// One matrix out of the many attentions of a model.

namespace heed {

// The attention of that name is both of two axes that look at each other, in one matrix over the places of the axis
// that comes first: where each place of the other looked ("lamp →", rows sum to 1), and below it how much each place of
// the first looked at it ("lamp ←", columns sum to 1). It is of a trace whose places are as they will be shown: words
// or tokens, with or without ends.
inline constexpr const char* kBothDirections = "pairs";

struct AttentionPick {
  // "decoder.layer3.source"; "decoder.source" or "encoder.self": that of every layer; kBothDirections; empty: the
  // model's own alignment, or, if a layer or a head is asked for, the attentions between its axes.
  std::string attention = {};
  std::string layer = {};  // a number from 1, "mean" or empty: the mean over the layers
  // A number from 1, "max" (the largest of the heads' weights), "mean" or empty; or "each": where a label looks, its
  // heads one below another and their mean, on an axis "head" of their own.
  std::string head = {};
  bool rollout = false;
};

// The trace with what was picked for its alignment, between the axes of that attention, and no other attention. What
// is about the output goes where the output does not look. With `rollout`, the layers of a self-attention are
// multiplied (below), and an attention to an input goes on through the self-attentions of that input, to its words
// themselves. An unknown name, layer or head is an Error with those that there are.
Trace picked(const Trace& trace, const AttentionPick& pick);

// Abnar, Zuidema 2020, Quantifying attention flow in transformers: attention rollout.
//   Â = ½ (A + I),  R = Â_L ⋯ Â_2 Â_1
// of layers [n, n], the first first. Rows of R sum to 1 where those of every A do.
Tensor attention_rollout(std::span<const Tensor> layers);

// How well one head aligns words.
struct HeadError {
  std::string attention;
  Index head = 1;    // from 1
  double error = 0;  // AER
};
// Every head with which the output looks at the first input, the one with the smallest error first. The
// traces are of the right translations, with all attentions; gold links are between their words, one list per trace.
std::vector<HeadError> heads_by_error(std::span<const Trace> traces, std::span<const AlignmentLinks> gold);

}  // namespace heed
