#pragma once

#include <string>

#include "heed/attention/mechanism.h"
#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"
#include "heed/models/eye.h"
#include "heed/nn/norm.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Xu et al. 2015, Show, attend and tell: a sentence for the regions a_1..a_m of an image.
//   [h_0; c_0] = tanh(W relu(V mean(a)))
//   e_ti = v·tanh(W_a h_{t-1} + U_a a_i),  α_t = softmax(e_t),  β_t = σ(w·h_{t-1} + b),  ẑ_t = β_t Σ_i α_ti a_i
//   h_t = LSTM([E y_{t-1}; ẑ_t]; h_{t-1}),   p(y_t) = softmax(L_o tanh(E y_{t-1} + L_h h_t + L_z ẑ_t))
//   loss = -log p(y) + λ Σ_i (1 - Σ_t α_ti)² + φ Σ_t H(α_t)
// φ is ours: where a few regions tell as much as all of them, nothing else makes a look sharp.
// The tanh of the deep output is that of the authors' code. Hard attention samples one region per word and learns by
// REINFORCE (losses.h). Without attention the mean is read at every step: what attention has to beat.
// An encoder's regions are large numbers beside a state's: their part of e_ti then drowns W_a h_{t-1}, and every word
// looks at the same places. Normalised regions are as large as what asks.
// With read_mean the LSTM and the deep output read mean(a) before every word too (Lu et al. 2017, Knowing when to
// look), as a model without attention does: a look then has to add to what the whole picture tells, not to tell it
// again. h_{t-1} has not read y_{t-1} yet: it looks for the noun before it knows the adjective. With query_word the
// query is [h_{t-1}; E y_{t-1}].
struct ShowAttendTellConfig final : Config {
  Index embedding = 512;
  Index hidden = 1800;
  Index annotation = 0;          // width of a learned layer over the regions, relu(W a + b); 0: regions as they are
  bool normalised = false;       // regions are normalised (Ba, Kiros, Hinton 2016), behind the layer if there is one
  double dropout = 0.5;          // of words, states and the deep output
  bool gate = true;              // β
  bool query_word = false;       // the last word is part of the query
  bool read_mean = false;        // the mean of the regions is read before every word too
  bool places = false;           // a learned vector of its place is added to each region
  bool tied = false;             // the output's weights are the words' vectors
  double doubly_stochastic = 1;  // λ
  double focus = 0;              // φ
  double region_dropout = 0;     // of the regions' numbers, the same ones in every region of a picture
  std::string looking = "soft";  // soft: as the attention's own options say; hard; none
  EyeConfig eye;
  AttentionLosses losses{.baseline = "moving"};
  AttentionOptions attention = composed_of("additive");

  void visit(Fields& field) override;
};

class ShowAttendTell final : public Writer {
 public:
  ShowAttendTell(const Scope& scope, const ShowAttendTellConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override { return {{.name = "decoder.source"}}; }
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<ShowAttendTell>>(*this, source);
  }

  struct Encoded {
    Memory memory;
    LstmState start;   // h_0 and c_0 [batch, hidden]
    Var mean_gates;    // the mean's share of the gates [batch, 4·hidden]; empty unless it is read before every word
    Var mean_readout;  // and of the deep output [batch, embedding]
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(memory, visit), each_in(start, visit), visit(mean_gates), visit(mean_readout);
    }
  };
  struct State {
    LstmState cell;
    Past past;
    Index position = 0;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(cell, visit), each_in(past, visit);
    }
  };
  Encoded encode(const Source& source, Random* random = nullptr) const;
  State begin(const Encoded& encoded) const { return {encoded.start, {}, 0}; }
  Decoding::Step step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  // What is attended to, [batch, m, width].
  Var regions_of(const Source& source) const;
  // One look and one step of the LSTM, given the word's vector and its share of the gates [batch, 4·hidden].
  struct Looked {
    SourceAttention::Result attended;
    Var context;  // ẑ_t [batch, width]
  };
  Looked advance(const Encoded& encoded, State& state, const Var& word, const Var& word_gates, Random* random) const;
  // Of words (with the mean's share of the deep output), states and contexts of any number of steps, [..., ·] each.
  WordScores predicted(const Var& embedded, const Var& states, const Var& contexts, Random* random) const;
  Var word_gates(const Var& embedded) const { return linear(embedded, words_.weight(), decoder_.weights().bias); }

  ShowAttendTellConfig config_;
  EyePlan plan_;
  Index width_;  // of a region as it is attended to
  Eye eye_;      // if its encoder is trained: the source is the pixels of each region
  Var places_;   // [regions, width], if there are any
  Embedding target_;
  Linear annotation_, mean_, start_;
  LayerNorm norm_;
  SourceAttention attention_;
  Linear gate_;
  LstmLayer decoder_;  // reads the context; the words come in by
  Linear words_;       // their share of the gates
  Linear state_readout_, context_readout_;
  Linear mean_gates_, mean_readout_;  // if the mean is read before every word
  WordOutput output_;
};

}  // namespace heed
