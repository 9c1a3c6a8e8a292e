#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/frame_times.h"
#include "heed/data/sample.h"
#include "heed/tensor/tensor.h"

// What a model attended to while it gave one output: the plain data that every picture, file and page is made from.
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
  std::vector<Index> sentence_ends = {};  // of a document: the token behind each sentence's last; the end is in none
};

// One of the things that a trace is about: an input, or what the model gave.
struct TraceAxis {
  std::string name;  // "source", "premise", "image", "label"
  Kind kind = Kind::text;
  TraceText text = {};          // of a text, a document or a label, whose tokens are the labels
  Index rows = 0, columns = 0;  // of an image: its grid of regions, row by row; of a sound: frames, and 1
  FrameTimes frames = {};       // of a sound
  // Of an image a small copy of it, of a sound its spectrogram, as a data: URL (see is_preview); may be empty.
  std::string preview = {};
  // Of a sound, both may be empty: the largest amplitude, 0..1, in each of equal stretches of it, and what is heard, as
  // a data: URL (see is_playable).
  std::vector<double> waveform = {};
  std::string playable = {};

  // Places along the axis: tokens, regions or frames.
  Index size() const;
};

// Whether a preview holds the bytes of a picture and nothing else: "data:image/png;base64,...", or jpeg, webp or gif,
// and no more of them than are small.
inline constexpr std::size_t kLargestPreview = 1 << 20;
bool is_preview(std::string_view url);
// The same of a sound: "data:audio/wav;base64,...".
inline constexpr std::size_t kLargestPlayable = 32 << 20;
inline constexpr std::size_t kLongestWaveform = 4096;  // stretches
bool is_playable(std::string_view url);
// What each place of an axis is called: the token's text, "2,3" for the region of the second row and third column,
// "0.4 s" for the frame that begins then, or "frame 3" where it is not known when.
std::vector<std::string> labels_of(const TraceAxis& axis);

// The weights of one attention of the model: how each place of one axis looked at the places of another. A decoder's
// attention to its own words is that of the token being written to those before it; what is missing from a row was on
// the begin of the sentence.
struct TraceAttention {
  std::string name;                                 // "decoder.layer1.source"
  Index layer = 1;                                  // from 1
  std::string rows = "target", columns = "source";  // names of axes
  Tensor weights;                                   // [heads, rows, columns]
};

// One of the labels that a model chose from.
struct TraceChoice {
  std::string label;
  double probability = 0;
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

  std::vector<double> entropy = {};               // of each row of the alignment, in nats
  double gradient_agreement = kNotMeasured;       // mean over rows of Kendall's τ of weights and |gradient × weight|
  double leave_one_out_agreement = kNotMeasured;  // the same with what leaving out each column changes
  double comprehensiveness = kNotMeasured;  // how much the output's probability falls without what got most weight
  double sufficiency = kNotMeasured;        // how much it falls with nothing but that
  // The same two for weights in random order: the baseline beside which they are read.
  double random_comprehensiveness = kNotMeasured, random_sufficiency = kNotMeasured;
  double alignment_error = kNotMeasured;  // AER against a given gold alignment
};

// The single numbers of a TraceTrust with their names in JSON and Python: all that lists them goes through this.
struct TrustNumber {
  const char* name;
  double TraceTrust::*value;
};
inline constexpr std::array kTrustNumbers{
    TrustNumber{"gradient_agreement", &TraceTrust::gradient_agreement},
    TrustNumber{"leave_one_out_agreement", &TraceTrust::leave_one_out_agreement},
    TrustNumber{"comprehensiveness", &TraceTrust::comprehensiveness},
    TrustNumber{"sufficiency", &TraceTrust::sufficiency},
    TrustNumber{"random_comprehensiveness", &TraceTrust::random_comprehensiveness},
    TrustNumber{"random_sufficiency", &TraceTrust::random_sufficiency},
    TrustNumber{"alignment_error", &TraceTrust::alignment_error},
};

struct Trace {
  std::string model;   // name under which the model was loaded
  std::string system;  // "transformer", "rnnsearch", or the toolkit that a trace was imported from
  std::string job = "translation";
  std::vector<TraceAxis> axes;            // the inputs in the job's order, then the output
  std::string rows, columns;              // axes of the alignment; empty without one
  Tensor alignment;                       // [rows, columns]: the model's own; empty without attention
  bool unlinked_at_end = false;           // the model has learnt to look at the end where a word has no counterpart
  std::vector<double> log_probabilities;  // of each token of the output; empty of a label
  // Of a model that copies, for each token of the output: the probability that it writes a word of its own instead of
  // one that it looks at, and the share of the token's probability that comes from copying. Else empty.
  std::vector<double> generation_probabilities = {}, copied = {};
  std::vector<TraceChoice> choices;        // labels with their probabilities, most probable first; empty of words
  std::vector<TraceAttention> attentions;  // every attention of the model that was asked for
  std::vector<std::vector<TraceHypothesis>> beam;  // a list per step; empty unless asked for
  std::vector<TraceTrust> trust;                   // one, or none where nothing was measured

  // The axis of a name; an Error with the nearest known name where there is none.
  const TraceAxis& axis(std::string_view name) const;
  TraceAxis& axis(std::string_view name);
  // The last axis. A trace without axes is an Error here and below.
  const TraceAxis& output() const;
  // Those of the alignment; without one the output, and the first axis.
  const TraceAxis& row_axis() const;
  const TraceAxis& column_axis() const;
};

// What the rows of the alignment are called; words that were copied, rather than written, are marked with "<".
std::vector<std::string> row_labels(const Trace& trace);

// A trace of two texts: axes "source" and "target", and the alignment between them target by source.
Trace pair_trace(TraceText source, TraceText target);

}  // namespace heed
