#pragma once

#include "heed/attention/attention.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"
#include "heed/nn/recurrent.h"

namespace heed {

// A small recurrent encoder–decoder with attention after Bahdanau, Cho, Bengio 2015, character by character: it reads a
// date as people write it and writes it as ISO 8601.
//   h_j = BiGRU(x)_j,  s_0 = tanh(W h←_1),  c_t = attention(s_{t-1}, h),  s_t = GRU([E y_{t-1}; c_t], s_{t-1}),
//   p(y_t) = softmax(O [s_t; c_t])
struct DateReaderConfig {
  Index characters = 0;  // of the input's alphabet
  Index symbols = 0;     // of the output's
  Index length = 10;     // of every output
  Index embedding = 32;
  Index hidden = 96;
  AttentionOptions attention;  // widths are filled in by the model

  template <class Visitor>
  void visit(Visitor&& field) {
    field("characters", characters, "size of the input's alphabet");
    field("symbols", symbols, "size of the output's alphabet");
    field("length", length, "length of every output");
    field("embedding", embedding, "width of a character's vector");
    field("hidden", hidden, "width of the recurrent states");
    attention.visit(field);
  }
};

class DateReader {
 public:
  DateReader(const Scope& scope, const DateReaderConfig& config);

  // Logits [batch, length, symbols] for written [batch, m] with true lengths [batch]; the true output [batch, length]
  // is fed back.
  Var forward(const Ids& written, const Ids& lengths, const Ids& output, Random& random) const;

  struct Reading {
    Ids symbols;     // [length]
    Tensor weights;  // [length, m]
  };
  // The most probable symbol at each step, fed back, for one input [m].
  Reading read(const Ids& written) const;

 private:
  // What a decoder step hands to the next one.
  struct State {
    Var hidden;  // [batch, hidden]
    Past past;
  };
  struct Encoded {
    Memory memory;
    State start;
  };
  Encoded encode(const Ids& written, const Ids& lengths) const;
  struct Step {
    Var logits;                // [batch, symbols]
    AttentionWeights weights;  // [batch, 1, 1, m]
    State state;
  };
  Step step(const Encoded& encoded, const State& state, const Ids& previous, Index position, Random* random) const;

  DateReaderConfig config_;
  Embedding characters_, symbols_;
  Bidirectional<GruLayer> encoder_;
  Linear start_;
  Attention attention_;
  GruLayer decoder_;
  Linear output_;
};

}  // namespace heed
