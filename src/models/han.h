#pragma once

#include "heed/attention/mechanism.h"
#include "heed/models/pooling.h"
#include "heed/models/text_input.h"
#include "heed/nn/recurrent.h"

namespace heed {

// Yang et al. 2016, Hierarchical attention networks for document classification.
//   h_it = BiGRU(E w_it)           u_it = tanh(W_w h_it + b_w)   α_it = softmax_t(u_it·u_w)   s_i = Σ_t α_it h_it
//   h_i = BiGRU(s_i)               u_i = tanh(W_s h_i + b_s)     α_i = softmax_i(u_i·u_s)     v = Σ_i α_i h_i
//   p = softmax(W_c v + b_c)
// Any score, window and normaliser may stand for the two softmaxes over context vectors; with the score uniform it is
// the paper's HN-AVE. The alignment of a word is α_i α_it, which sums to 1 over the document. The end symbol takes no
// part unless there is nothing else.
struct HanConfig final : Config {
  TextInputConfig text{.embedding = 200};
  Index hidden = 50;    // of each direction, of words and of sentences
  Index sentence = 60;  // longer sentences are read in parts of at most so many words
  double dropout = 0;   // of sentences' vectors and of the document's
  AttentionOptions attention = composed_of("context");

  void visit(Fields& field) override;
};

class Han final : public Chooser {
 public:
  Han(const Scope& scope, const HanConfig& config);

  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override { return {{.name = "label.document"}}; }
  std::vector<WordTable> word_tables() const override { return words_.tables(); }

 private:
  HanConfig config_;
  TextInput words_;
  Bidirectional<GruLayer> word_encoder_, sentence_encoder_;
  Pooling word_pooling_, sentence_pooling_;
  Linear labels_;
};

// The sentences of a batch of documents, one per row.
struct SentenceRows {
  Ids words;    // [sentences, longest]
  Ids lengths;  // [sentences]
  Ids rows;     // [batch, most sentences of a document]: the row of each sentence; 0 beyond the last
  Ids counts;   // [batch]: sentences of each document
  Ids from;     // [sentences, longest]: place of each word among the documents' [batch · longest]; 0 beyond the length
  Ids sentence;   // [batch, longest of the documents]: place among `rows` of each word's sentence; 0 of no sentence
  Ids word;       // likewise, its place among `words`
  Tensor inside;  // [batch, longest]: 1 for a word of a sentence, 0 for the end symbol and beyond
};
// Sentences of more than `longest` words are cut into equal parts. A document without ends is one sentence.
SentenceRows sentence_rows(const Source& document, Index longest);

}  // namespace heed
