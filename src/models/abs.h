#pragma once

#include <vector>

#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"

namespace heed {

// Rush, Chopra, Weston 2015, A neural attention model for abstractive sentence summarization (ABS).
//   p(y_{i+1}) ∝ exp(V h + W enc(x, y_c)),  h = tanh(U ỹ_c),  ỹ_c = [E y_{i-C+1}; ...; E y_i]
// a feed-forward language model of the last C words (Bengio et al. 2003) beside one of three encoders of x̃ = F x:
//   bow        enc = Σ_j x̃_j / m
//   conv       layers of x ← tanh(max over pairs of conv_{2Q+1}(x)), then the largest over time
//   attention  enc = pᵀ x̄,  p ∝ exp(x̃ P ỹ'_c),  ỹ'_c = [G y_{i-C+1}; ...; G y_i],  x̄_j = Σ_{|q-j| <= Q} x̃_q / (2Q + 1)
// The paper divides the sum of 2Q + 1 vectors by Q; the mean is taken here, so that Q = 0 smooths nothing. Beyond the
// ends of a text there are zeros. Before the first word stands the begin symbol.
struct AbsConfig final : Config {
  std::string encoder = "attention";  // bow, conv or attention
  Index context = 5;                  // C
  Index embedding = 200;              // of E, F and G
  Index hidden = 400;                 // of h
  Index neighbours = 2;               // Q, on either side
  Index layers = 3;                   // of the convolutional encoder
  double dropout = 0;                 // of h and enc

  void visit(Fields& field) override;
};

class Abs final : public Writer {
 public:
  Abs(const Scope& scope, const AbsConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override;
  std::vector<WordTable> word_tables() const override { return {{source_.table()}}; }
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<Abs>>(*this, source);
  }

  struct Encoded {
    Var vector;     // of the convolutional encoder, [batch, 1, embedding]
    Memory memory;  // of the others: keys x̃, values x̃ or x̄
    template <class Visitor>
    void each(Visitor&& visit) {
      visit(vector), each_in(memory, visit);
    }
  };
  struct State {
    Ids words;  // the last C, [batch, C]
    template <class Visitor>
    void each(Visitor&& visit) {
      visit(words);
    }
  };
  Encoded encode(const Source& source) const;
  State begin(const Encoded& encoded) const;
  StepScores step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  bool looks() const { return config_.encoder != "conv"; }
  Var convolved(const Var& words, const Source& source) const;
  // The scores after contexts [batch, n, C] of words; the weights [batch, n, m] too, unless there are none.
  struct Predicted {
    WordScores words;
    Var weights;
  };
  Predicted predicted(const Encoded& encoded, const Ids& contexts, Random* random) const;

  AbsConfig config_;
  Embedding source_, target_, query_;  // F, E, G
  Linear hidden_;                      // U
  std::vector<Linear> convolutions_;   // each [(2Q + 1) · embedding, embedding]
  SourceAttention attention_;
  WordOutput output_;  // V and W, one above the other
};

}  // namespace heed
