#pragma once

#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Sutskever, Vinyals, Le 2014, Sequence to sequence learning with neural networks: no attention.
//   (h, c) of all layers = LSTM(E x_m, ..., E x_1),  h_t = LSTM(E y_{t-1}; h_{t-1}, c_{t-1}),  p(y_t) = softmax(W h_t)
// The source is read from its last word to its first: the first words of both sides come near each other. All weights
// start as U(-0.08, 0.08).
struct Seq2SeqLstmConfig final : Config {
  Index layers = 4;  // of each side
  Index embedding = 1000;
  Index hidden = 1000;
  double dropout = 0;  // of embeddings, between layers and before the output
  bool reverse_source = true;
  double initial_range = 0.08;  // of all weights; 0: Glorot's, recurrent ones orthogonal
  bool tied = false;            // the output's weights are the target words' vectors; needs hidden = embedding

  void visit(Fields& field) override;
};

class Seq2SeqLstm final : public Writer {
 public:
  Seq2SeqLstm(const Scope& scope, const Seq2SeqLstmConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override { return {}; }
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<Seq2SeqLstm>>(*this, source);
  }

  struct State {
    Stacked<LstmLayer>::State layers;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(layers, visit);
    }
  };
  using Encoded = State;  // all that is known of the source is where the decoder starts
  Encoded encode(const Source& source) const { return encode(source, nullptr); }
  State begin(const Encoded& encoded) const { return encoded; }
  StepScores step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  Encoded encode(const Source& source, Random* random) const;
  Stacked<LstmLayer>::Between dropping(Random* random) const;

  Seq2SeqLstmConfig config_;
  Embedding source_, target_;
  Stacked<LstmLayer> encoder_, decoder_;
  WordOutput output_;
};

}  // namespace heed
