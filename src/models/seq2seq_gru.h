#pragma once

#include <string>

#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Cho et al. 2014, Learning phrase representations using RNN encoder–decoder: no attention, the context at every step.
//   h_j = GRU(E x_j; h_{j-1}),  c = tanh(V h_m),  h'_0 = tanh(V' c),  h'_t = GRU(E y_{t-1}, c; h'_{t-1})
//   s_t = maxout(O_h h'_t + O_y E y_{t-1} + O_c c),  p(y_t) = softmax(G s_t), G of low rank
// The reset gate acts before the recurrent product, h̃ = tanh(W x + U (r ∘ h)), or after it; the update gate keeps the
// state (the paper) or takes the candidate (the released code). The context is never reset, as in that code. Weights
// start as N(0, 0.01²), recurrent ones orthogonal.
struct Seq2SeqGruConfig final : Config {
  Index embedding = 100;
  Index hidden = 1000;
  Index maxout = 500;
  Index rank = 100;                 // of the output's weights; 0: full
  std::string reset = "before";     // before or after the product
  std::string update = "keeps";     // keeps the state or takes the candidate
  double dropout = 0;               // of embeddings and before the output
  double initial_deviation = 0.01;  // of the weights that are not recurrent; 0: Glorot's
  bool tied = false;  // the output's weights are the target words' vectors; needs rank (maxout if full) = embedding

  void visit(Fields& field) override;
};

class Seq2SeqGru final : public Writer {
 public:
  Seq2SeqGru(const Scope& scope, const Seq2SeqGruConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override { return {}; }
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<Seq2SeqGru>>(*this, source);
  }

  // What the context is to every step.
  struct Encoded {
    Var start;    // h'_0 [batch, hidden]
    Var gates;    // its share of the decoder's gates, bias included, [batch, 3·hidden]
    Var readout;  // its share of the readout, [batch, 2·maxout]
    template <class Visitor>
    void each(Visitor&& visit) {
      visit(start), visit(gates), visit(readout);
    }
  };
  struct State {
    Var hidden;  // [batch, hidden]
    template <class Visitor>
    void each(Visitor&& visit) {
      visit(hidden);
    }
  };
  Encoded encode(const Source& source) const { return encode(source, nullptr); }
  State begin(const Encoded& encoded) const { return {encoded.start}; }
  StepScores step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  Encoded encode(const Source& source, Random* random) const;
  // Logits of states and words' vectors [batch, n, ·].
  WordScores predicted(const Var& states, const Var& embedded, const Encoded& encoded, Random* random) const;

  Seq2SeqGruConfig config_;
  Embedding source_, target_;
  GruLayer encoder_, decoder_;
  Linear context_, start_, context_gates_, context_readout_, readout_, narrow_;
  WordOutput output_;
};

}  // namespace heed
