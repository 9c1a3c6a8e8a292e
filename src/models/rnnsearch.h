#pragma once

#include <string>

#include "heed/attention/mechanism.h"
#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Bahdanau, Cho, Bengio 2015, Neural machine translation by jointly learning to align and translate: RNNsearch.
//   h_j = [h→_j; h←_j] = BiGRU(E x)_j                                s_0 = tanh(W_s h←_1)
//   e_ij = v·tanh(W_a s_{i-1} + U_a h_j),  α_i = softmax(e_i),        c_i = Σ_j α_ij h_j
//   s_i = GRU(E y_{i-1}, c_i; s_{i-1})                               reset before the product, z takes the candidate
//   t_i = maxout(U_o s_{i-1} + V_o E y_{i-1} + C_o c_i),             p(y_i) = softmax(W_o t_i)
// The readout uses the state before the step, as the authors' code does. Any score, window and normaliser may stand for
// the additive softmax, and an LSTM for the GRU. Parameters start as in the paper: recurrent ones orthogonal, the
// others N(0, 0.01²), biases zero.
// s_{i-1} has not read y_{i-1} yet. With query_word the query is [s_{i-1}; E y_{i-1}], so the look of step i knows that
// word, and can be what the word is aligned with (alignment_reads; Chen et al. 2020 for the Transformer).
struct RnnSearchConfig final : Config {
  Index embedding = 620;
  Index hidden = 1000;
  Index maxout = 500;
  std::string cell = "gru";         // gru or lstm
  double dropout = 0;               // of embeddings, annotations and readout
  double initial_deviation = 0.01;  // of the weights that are not recurrent; 0: Glorot's
  bool tied = false;                // the output's weights are the target words' vectors; needs maxout = embedding
  bool copy = false;                // words may be copied from the source (See et al. 2017)
  bool query_word = false;          // the last word is part of the query
  bool alignment_reads = false;     // a word's alignment is the look of the step that reads it
  AttentionLosses losses;
  AttentionOptions attention = composed_of("additive");

  void visit(Fields& field) override;
};

template <class Layer>
class RnnSearch final : public Writer {
 public:
  RnnSearch(const Scope& scope, const RnnSearchConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override { return {{.name = "decoder.source"}}; }
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<RnnSearch>>(*this, source);
  }
  bool copies() const override { return config_.copy; }
  bool aligns_as_read() const override { return config_.alignment_reads; }
  std::vector<WordTable> word_tables() const override { return {{source_.table()}}; }

  struct Encoded {
    Memory memory;
    Var start;  // s_0 [batch, hidden]
    CopiedSource copied;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(memory, visit), visit(start), visit(copied.words);
    }
  };
  struct State {
    typename Layer::State cell;
    Past past;
    Index position = 0;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(cell, visit), each_in(past, visit);
    }
  };
  Encoded encode(const Source& source) const { return encode(source, nullptr); }
  State begin(const Encoded& encoded) const { return {Layer::state_of(encoded.start), {}, 0}; }
  StepScores step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  Encoded encode(const Source& source, Random* random) const;
  Var query(const Var& before, const Var& word) const;  // [batch, 1, ·] of s_{i-1} and E y_{i-1}, [batch, ·] both
  // Log-probabilities or logits [batch, n, vocabulary] of [s_{i-1}; E y_{i-1}; c_i] [batch, n, ·].
  WordScores predicted(const Var& features, const Var& weights, const Encoded& encoded, Random* random) const;

  RnnSearchConfig config_;
  Embedding source_, target_;
  Bidirectional<Layer> encoder_;
  Linear start_;
  SourceAttention attention_;
  Layer decoder_;  // reads the context; the words come in by
  Linear words_;   // their share of the gates
  Linear readout_;
  WordOutput output_;
  Copying copying_;
};

}  // namespace heed
