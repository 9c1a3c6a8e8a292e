#pragma once

#include "heed/attention/mechanism.h"
#include "heed/models/pooling.h"
#include "heed/models/text_input.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Lin et al. 2017, A structured self-attentive sentence embedding.
//   H = BiLSTM(E w)                A = softmax(W_s2 tanh(W_s1 Hᵀ)), r rows          M = A H
//   one text:   p = softmax(W_2 relu(W_1 M + b_1) + b_2)
//   two texts:  F = (M_h W_fh) ∘ (M_p W_fp), row by row with weights of its own, instead of M
//   penalty     c ‖A Aᵀ - I‖²_F: rows should look at different places
// With r = 1 it is plain attention pooling. Any score, window and normaliser may stand for the softmax of rows. Two
// texts are read by the same encoder and the same rows. The alignment is the mean of the rows, of the first text.
struct SelfAttentiveConfig final : Config {
  TextInputConfig text;
  Index hidden = 300;  // of each direction
  Index rows = 30;
  Index gated = 150;   // of two texts: width of what a row becomes
  Index layer = 3000;  // hidden units above the rows
  double penalty = 1;
  double dropout = 0.5;  // of what the rows read, and of the layer above them
  AttentionOptions attention = attention_of_rows();

  static AttentionOptions attention_of_rows();
  void visit(Fields& field) override;
};

class SelfAttentive final : public Chooser {
 public:
  SelfAttentive(const Scope& scope, const SelfAttentiveConfig& config);

  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override;
  std::vector<WordTable> word_tables() const override { return words_.tables(); }

 private:
  SelfAttentiveConfig config_;
  TextInput words_;
  Bidirectional<LstmLayer> encoder_;
  Pooling pooling_;
  std::vector<Var> gates_;  // of each of two texts: [rows, 2·hidden, gated]
  Linear layer_, labels_;
};

}  // namespace heed
