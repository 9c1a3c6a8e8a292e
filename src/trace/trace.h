#pragma once

#include <limits>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

// What a model attended to while it wrote one output: the plain data that every picture, file and page is made from.
// docs/trace.schema.json describes the same as JSON.

namespace heed {

// A stretch of a text, in characters (Unicode code points) from `begin` up to but not including `end`.
struct TraceWord {
  std::string text;
  Index begin = 0, end = 0;
};

// What the model read or wrote at once: a word, a piece of one, or the end of the sentence.
struct TraceToken {
  std::string text;          // as the vocabulary writes it: "▁Haus", "</s>"
  Index begin = 0, end = 0;  // where it stands in the text; empty for the end
  Index word = -1;           // number of its word; -1: of none
};

struct TraceText {
  std::string text;
  std::vector<TraceToken> tokens;
  std::vector<TraceWord> words;
};

enum class TraceSide { source, target };

// The weights of one attention of the model: how each row's token looked at the columns' tokens. A decoder's attention
// to its own words is that of the token being written to those before it; what is missing from a row was on the begin
// of the sentence.
struct TraceAttention {
  std::string name;  // "decoder.layer1.source"
  Index layer = 1;   // from 1
  TraceSide rows = TraceSide::target, columns = TraceSide::source;
  Tensor weights;  // [heads, rows, columns]
};

// One of the hypotheses that a beam search kept at a step.
struct TraceHypothesis {
  std::string token;           // what it was continued with
  Index from = 0;              // its place among the hypotheses of the step before; 0 at the first
  double log_probability = 0;  // of all its tokens so far
  double score = 0;            // with the search's penalties
  bool ended = false;          // the token was the end of the sentence: it left the beam
  bool chosen = false;         // it became the output
};

// How far the alignment can be trusted as the reason for the output. What was not measured is NaN or empty.
struct TraceTrust {
  static constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

  std::vector<double> entropy = {};  // of each target token's row, in nats
  double gradient_agreement =
      kNotMeasured;  // mean over target tokens of Kendall's τ of weights and |gradient × weight|
  double leave_one_out_agreement = kNotMeasured;  // the same with what leaving out each source token changes
  double comprehensiveness = kNotMeasured;  // how much the output's probability falls without what got most weight
  double sufficiency = kNotMeasured;        // how much it falls with nothing but that
  double alignment_error = kNotMeasured;    // AER against a given gold alignment
};

struct Trace {
  std::string model;   // name under which the model was loaded
  std::string system;  // "transformer", "rnnsearch", or the toolkit that a trace was imported from
  TraceText source, target;
  Tensor alignment;                        // [target tokens, source tokens]: the model's own; empty without attention
  std::vector<double> log_probabilities;   // of each target token
  std::vector<TraceAttention> attentions;  // every attention of the model that was asked for
  std::vector<std::vector<TraceHypothesis>> beam;  // a list a step; empty unless asked for
  std::vector<TraceTrust> trust;                   // one, or none where nothing was measured
};

}  // namespace heed
