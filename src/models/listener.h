#pragma once

#include <string>
#include <vector>

#include "heed/attention/mechanism.h"
#include "heed/data/sound_sense.h"
#include "heed/models/ctc_prefix.h"
#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Chorowski, Bahdanau, Serdyuk, Cho, Bengio 2015, Attention-based models for speech recognition.
//   h = BiGRU(... BiGRU(x))                                          x: frames of a sound as features
//   s_i = GRU(E y_{i-1}, c_{i-1}; s_{i-1})                           y_0 the begin symbol, c_0 = 0, s_0 = 0
//   f_i = F * α_{i-1},  e_ij = w·tanh(W s_i + V h_j + U f_ij + b)     hybrid attention; any other may stand for it
//   α_i = softmax(e_i),  c_i = Σ_j α_ij h_j
//   p(y_i) = softmax(W_o maxout(U_o s_i + C_o c_i))
// Between layers of the encoder time may be halved (Chan et al. 2016): two neighbours become one, side by side, or
// every second is dropped. In training the encoder may learn CTC too (Watanabe et al. 2017), L = L_attention + λ L_CTC,
// and the search then may weigh both, (1 - μ) log p_attention + μ log p_CTC; features may be masked (Park et al. 2019).
// A pause in a long sound looks like its end. So the search may be told to end only where the end is in sight, w being
// the half width of windows and m the number of annotations:
//   median(α_i) + w >= m - 1
struct ListenerConfig final : Config {
  Index layers = 3;
  Index hidden = 256;     // of each direction of the encoder, and of the decoder
  Index embedding = 256;  // of a written letter, phoneme or piece
  Index maxout = 256;
  std::string cell = "gru";         // gru or lstm
  Index halvings = 0;               // of time, between the lowest layers
  std::string halving = "join";     // join or drop
  double dropout = 0;               // of annotations, embeddings and readout
  double initial_deviation = 0.01;  // of the weights that are not recurrent; 0: Glorot's
  double ctc_weight = 0;            // λ
  double ctc_search = 0;            // μ
  bool end_in_sight = false;        // the search ends nowhere else
  Index masks = 0;                  // bands of features, and spans of frames, that training hides
  Index mask_features = 12;         // each of at most so many,
  Index mask_frames = 20;           // or so many
  AttentionOptions attention = composed_of("location-aware");
  SoundOptions sound;

  ListenerConfig() { attention.score_width = 512, attention.half_width = 75; }
  void visit(Fields& field) override;
};

template <class Layer>
class Listener final : public Writer {
 public:
  Listener(const Scope& scope, const ListenerConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override { return {{.name = "decoder.frames"}}; }
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<Listener>>(*this, source);
  }

  struct Encoded {
    Memory memory;  // of annotations, one for `together` frames
    Var ctc;        // the annotations' probabilities by CTC [batch, m, vocabulary]; empty unless the search asks
    Ids lengths;    // [batch] of the source, in frames
    Index frames = 0;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(memory, visit), visit(ctc), visit(lengths);
    }
  };
  struct State {
    typename Layer::State cell;
    Var context;  // c_{i-1} [batch, 2·hidden]
    Past past;
    CtcPrefix::State ctc;
    Index position = 0;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(cell, visit), visit(context), each_in(past, visit), ctc.each(visit);
    }
  };
  Encoded encode(const Source& source) const;
  State begin(const Encoded& encoded) const;
  Decoding::Step step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  struct Heard {
    Var annotations;  // [batch, m, 2·hidden]
    Ids lengths;      // [batch]
  };
  Heard hear(const Source& source, Random* random) const;
  // Advances the state by one word, whose share of the gates is given: reads the word, then looks.
  SourceAttention::Result look(const Memory& memory, State& state, const Var& gates, Random* random) const;
  WordScores predicted(const Var& state, const Var& context, Random* random) const;
  Var ctc_penalty(const Heard& heard, const Source& previous) const;
  // Takes the end from rows of scores [rows, vocabulary] whose look, [rows, 1, 1, m], has it not in sight.
  void forbid_early_ends(const Tensor& weights, const Ids& lengths, Tensor& words) const;
  Index together() const { return Index{1} << config_.halvings; }

  ListenerConfig config_;
  std::vector<Bidirectional<Layer>> encoder_;
  Embedding target_;
  SourceAttention attention_;
  Layer decoder_;  // reads the context; the words come in by
  Linear words_;   // their share of the gates
  Linear readout_;
  WordOutput output_;
  Linear ctc_;
};

}  // namespace heed
