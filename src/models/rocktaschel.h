#pragma once

#include <string>

#include "heed/attention/mechanism.h"
#include "heed/models/text_input.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Rocktäschel et al. 2016, Reasoning about entailment with neural attention.
//   x = W E w + b                       words, mapped to the width of the states
//   Y = LSTM_p(premise)                 h = LSTM_h(delimiter, hypothesis), whose cell begins as LSTM_p's last
//   conditional    h* = tanh(W^x h_N)
//   attention      α = softmax(w·tanh(W^y Y + W^h h_N)),  r = Y α,                 h* = tanh(W^p r + W^x h_N)
//   word-by-word   α_t = softmax(w·tanh(W^y Y + W^h h_t + W^r r_{t-1})),  r_t = Y α_t + tanh(W^t r_{t-1}),
//                  h* = tanh(W^p r_N + W^x h_N)
//   match          α_t as the score says of h_t and Y,  r_t = Y α_t,  c_t = relu(W^c [(h_t - r_t)²; h_t ∘ r_t] + b),
//                  h* = tanh(W^x g_N), g = LSTM_g(c). Each word is compared with what it found (Wang, Jiang 2016,
//                  Learning natural language inference with LSTM; their comparison of 2017, A compare-aggregate
//                  model). LSTM_h begins with nothing, so that equal words of the two texts can be alike.
//   two-way        the same with the roles exchanged and the same parameters; both h* are joined
//   p = softmax(V h* + c)
//   shared         LSTM_h is LSTM_p, so that equal words become like states
//   memory words   Y are the premise's words x as they are, and h begins with nothing: whatever the label owes to the
//                  premise, the attention brought it. (Ours: in the paper c_p can carry everything past the attention.)
//                  With match, h are the hypothesis's words x: words are compared with words.
// Given vectors of words stay as they are; those of words without one are learned. Any other score, window and
// normaliser may stand for the softmax. End symbols take no part unless there is nothing else.
struct RocktaschelConfig final : Config {
  TextInputConfig text{.embedding = 300, .frozen = true};
  Index hidden = 100;
  std::string reading = "word-by-word";  // or conditional, attention, match
  std::string memory = "states";         // or words
  bool shared = false;
  bool two_way = false;
  double dropout = 0;  // of the words as the LSTMs read them, and of h*
  AttentionOptions attention = composed_of("word-by-word");

  void visit(Fields& field) override;
};

class Rocktaschel final : public Chooser {
 public:
  Rocktaschel(const Scope& scope, const RocktaschelConfig& config);

  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override;
  std::pair<int, int> alignment_axes() const override { return {word_by_word() ? 1 : kOutput, 0}; }
  std::vector<WordTable> word_tables() const override { return words_.tables(); }

 private:
  struct Read {
    Var vector;   // h* [batch, hidden]
    Var weights;  // [batch, n, m] between the tokens of the second text, or the label, and those of the first
  };
  // What the second text becomes after the first.
  Read read(const Source& first, const Source& second, const ForwardOptions& options, const Var& gates) const;
  Var encode(const Ids& words, Random* random) const;
  bool matches() const { return config_.reading == "match"; }
  bool word_by_word() const { return config_.reading == "word-by-word" || matches(); }
  bool attends() const { return config_.reading != "conditional"; }

  RocktaschelConfig config_;
  TextInput words_;
  Linear input_;
  LstmLayer premise_, hypothesis_;
  SourceAttention attention_;
  Linear compared_;
  LstmLayer matching_;
  Linear combined_, labels_;
};

}  // namespace heed
