#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/trace/trace.h"
#include "heed/metrics/aer.h"

// One matrix out of the many attentions of a model.

namespace heed {

struct AttentionPick {
  // "decoder.layer3.source"; "decoder.source" or "encoder.self": that of every layer; empty: the model's own alignment,
  // or decoder.source if a layer or a head is asked for.
  std::string attention = {};
  std::string layer = {};  // a number from 1, "mean" or empty: the mean over the layers
  std::string head = {};   // a number from 1, "max" (the largest of the heads' weights), "mean" or empty
  bool rollout = false;
};

// The trace with what was picked for its alignment, and no other attention. Its source is the text of the columns, its
// target that of the rows: for an encoder's attention to itself both are the source. With `rollout`, the layers of a
// self-attention are multiplied (below), and an attention to the source goes on through those of the encoder, to the
// words themselves. An unknown name, layer or head is an Error with those that there are.
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
// Every head that looks at the source, the one with the smallest error first. The traces are of the right translations,
// with all attentions; gold links are between their words, one list a trace.
std::vector<HeadError> heads_by_error(std::span<const Trace> traces, std::span<const AlignmentLinks> gold);

}  // namespace heed
