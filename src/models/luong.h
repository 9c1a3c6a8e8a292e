#pragma once

#include "heed/attention/mechanism.h"
#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Luong, Pham, Manning 2015, Effective approaches to attention-based neural machine translation.
//   h̄ = LSTM(E x), h_t = LSTM([E y_{t-1}; h̃_{t-1}]), stacked; the decoder starts with the encoder's last states
//   a_t = align(h_t, h̄): global or local, dot, general, concat or location;   c_t = Σ_s a_t(s) h̄_s
//   h̃_t = tanh(W_c [c_t; h_t]),   p(y_t) = softmax(W_s h̃_t)
// The attention asks with the current state; h̃_{t-1} among the inputs is input feeding. The source is read from its
// last word to its first. All weights start as U(-0.1, 0.1).
struct LuongConfig final : Config {
  Index layers = 4;  // of each side
  Index embedding = 1000;
  Index hidden = 1000;
  double dropout = 0.2;  // of embeddings, between layers and of h̃
  bool input_feeding = true;
  bool reverse_source = true;
  double initial_range = 0.1;  // of all weights; 0: Glorot's, recurrent ones orthogonal
  bool tied = false;           // the output's weights are the target words' vectors; needs hidden = embedding
  bool copy = false;           // words may be copied from the source (See et al. 2017)
  AttentionLosses losses;
  AttentionOptions attention = composed_of("general", "local-p");

  void visit(Fields& field) override;
};

class Luong final : public Writer {
 public:
  Luong(const Scope& scope, const LuongConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override { return {{.name = "decoder.source"}}; }
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<Luong>>(*this, source);
  }
  bool copies() const override { return config_.copy; }
  std::vector<WordTable> word_tables() const override { return {{source_.table()}}; }

  struct Encoded {
    Memory memory;
    Stacked<LstmLayer>::State start;
    CopiedSource copied;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(memory, visit), each_in(start, visit), visit(copied.words);
    }
  };
  struct State {
    Stacked<LstmLayer>::State layers;
    Var attentional;  // h̃_{t-1} [batch, hidden]; only for input feeding
    Past past;
    Index position = 0;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(layers, visit), visit(attentional), each_in(past, visit);
    }
  };
  Encoded encode(const Source& source) const { return encode(source, nullptr); }
  State begin(const Encoded& encoded) const;
  StepScores step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  Encoded encode(const Source& source, Random* random) const;
  Stacked<LstmLayer>::Between dropping(Random* random) const;
  // The words' share of the lowest layer's gates; only for input feeding.
  Var word_gates(const Var& embedded) const;
  // One step of the layers, given the words' vectors or, with input feeding, their share of the gates.
  void advance(State& state, const Var& words, Random* random) const;
  // Attention and h̃ [batch, n, hidden] of the layers' top states [batch, n, hidden] from `position` on.
  struct Attentional {
    Var states;
    SourceAttention::Result attended;
  };
  Attentional attend(const Var& top, Index position, const Encoded& encoded, const Past& past, Random* random,
                     bool whole = false) const;
  // h̃ of all steps [batch, n, hidden]; what was attended to goes into the record.
  Var fed_states(const Encoded& encoded, const Source& previous, Random* random, AttentionRecord& record) const;
  Var unfed_states(const Encoded& encoded, const Source& previous, Random* random, AttentionRecord& record) const;
  WordScores predicted(const Var& states, const Var& weights, const Encoded& encoded, Random* random) const;

  LuongConfig config_;
  Embedding source_, target_;
  Stacked<LstmLayer> encoder_, decoder_;
  Linear words_;  // the words' share of the gates if h̃ is fed
  SourceAttention attention_;
  Linear combine_;
  WordOutput output_;
  Copying copying_;
};

}  // namespace heed
