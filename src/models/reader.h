#pragma once

#include <string>

#include "heed/models/text_input.h"
#include "heed/nn/recurrent.h"

namespace heed {

// What readers of a document and a question have in common.
//   h = BiGRU(E d)                       the document; the question likewise
//   s                                    a distribution over the places of the document: what a reader is about
//   answer-from document                 P(c) = Σ_{i: d_i is c} s_i   (Kadlec et al. 2016, the attention sum)
//   answer-from options                  score(c) = e_c · tanh(W [Σ_i s_i h_i; u_blank] + b), e_c the mean of the
//                                        vectors of c's words and u_blank the question where it has its blank; for
//                                        options that need not occur in the document
// End symbols take no part unless there is nothing else.
struct ReaderConfig : Config {
  TextInputConfig text{.embedding = 384};
  Index hidden = 256;  // of each direction
  std::string answer_from = "document";
  double dropout = 0.1;  // of the encoded words

  void visit(Fields& field) override;
};

// "paper" or "small".
std::unique_ptr<Config> reader_config(const std::string& preset);

class Reader : public Chooser {
 public:
  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options = {}) const override;
  std::vector<WordTable> word_tables() const override { return words_.tables(); }

 protected:
  // `own_question`: the question has an encoder of its own. `name` leads errors.
  Reader(const char* name, const Scope& scope, const ReaderConfig& config, bool own_question);

  using Encoder = Bidirectional<GruLayer>;
  struct Encoded {
    Encoder::Result states;  // outputs [batch, longest, 2·hidden]
    Ids lengths;             // without the end
  };
  // s [batch, d]. Beyond it, attentions go to `trace` where there is one, in the order of attentions().
  virtual Var look(const Encoded& document, const Encoded& question, std::vector<AttentionOfBatch>* trace) const = 0;

 private:
  Encoded encode(const Encoder& encoder, const Source& text, Random* random) const;
  Var option_scores(const Var& read, const Encoded& question, const Source& asked, const Source& choices,
                    Random* random) const;

  const char* name_;
  ReaderConfig config_;
  TextInput words_;
  Encoder document_, question_;
  Linear answer_;
};

}  // namespace heed
