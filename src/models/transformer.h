#pragma once

#include <vector>

#include "heed/attention/multi_head.h"
#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"
#include "heed/nn/norm.h"

namespace heed {

// Vaswani et al. 2017, Attention is all you need.
//   encoder layer:  x ← LN(x + self(x)),  x ← LN(x + FFN(x)),  FFN(x) = max(0, x W₁ + b₁) W₂ + b₂
//   decoder layer:  the same with self-attention to the words before and attention to the encoder's x between the two
// That is post-norm, the paper's; pre-norm is x ← x + sub(LN(x)) and one LN at the end. Embeddings are multiplied by
// √width; a sinusoid of the position is added, unless positions enter the scores: relative (Shaw et al. 2018), alibi
// (Press et al. 2022) or rotary (Su et al. 2021).
struct TransformerConfig final : Config {
  Index layers = 6;          // of the encoder
  Index decoder_layers = 6;  // of the decoder
  Index width = 512;
  Index feed_forward = 2048;
  Index heads = 8;
  double dropout = 0.1;                  // of embeddings, of every sublayer's result and inside the feed-forward part
  std::string norm = "post";             // post or pre
  std::string positions = "sinusoidal";  // sinusoidal, relative, alibi, rotary or none
  Index neighbours = 0;                  // self-attention is restricted to so many positions; 0: all
  std::string tied = "output";  // all: source, target and output share a table; output: target and output; none
  Index alignment_layer = 0;    // of the decoder, counted from 1, whose heads' mean is the alignment; 0: last but one
  // Chen et al. 2020: where the decoder looks once it has read a word tells better which words belong together than
  // where it looks before, when it does not know the word yet.
  bool alignment_reads = false;
  bool copy = false;  // words may be copied from the source (See et al. 2017), by the alignment's weights
  AttentionLosses losses;

  void visit(Fields& field) override;
};

class Transformer final : public Writer {
 public:
  Transformer(const Scope& scope, const TransformerConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override;
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<Transformer>>(*this, source);
  }
  bool copies() const override { return config_.copy; }
  bool aligns_as_read() const override { return config_.alignment_reads; }

  // For DecodingOf. The memories are those of the decoder's layers: of the source, and of the words so far.
  struct Encoded {
    std::vector<Memory> source;
    CopiedSource copied;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(source, visit), visit(copied.words);
    }
  };
  struct State {
    std::vector<Memory> words;
    Index position = 0;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(words, visit);
    }
  };
  Encoded encode(const Source& source) const;
  State begin(const Encoded& encoded) const;
  StepScores step(const Encoded& encoded, State& state, const Ids& previous) const;

  // x [..., width] + the sinusoids of positions first, first + 1, ...:
  //   PE(p, 2i) = sin(p / 10000^{2i / width}),  PE(p, 2i + 1) = cos of the same
  static Tensor sinusoids(Index first, Index count, Index width);

 private:
  struct FeedForward {
    Linear inner, outer;
  };
  struct EncoderLayer {
    MultiHead self;
    FeedForward feed_forward;
    LayerNorm self_norm, feed_forward_norm;
  };
  struct DecoderLayer {
    MultiHead self, source;
    FeedForward feed_forward;
    LayerNorm self_norm, source_norm, feed_forward_norm;
  };
  // What happens around a sublayer; `random` is null outside training.
  template <class Sublayer>
  Var around(const LayerNorm& norm, const Var& x, Random* random, const Sublayer& sublayer) const;
  Var feed(const FeedForward& layer, const Var& x, Random* random) const;
  Var embed(const Embedding& table, const Ids& ids, Index first, Random* random) const;
  Var encoded(const Source& source, const ForwardOptions& options) const;
  // Scores of the next words by the decoder's x [batch, n, width] and the alignment, which only copying needs.
  WordScores predicted(const Var& x, const Var& alignment, const CopiedSource& source) const;
  Index alignment_layer() const;

  TransformerConfig config_;
  bool pre_norm_;
  Embedding source_table_, target_table_, output_table_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  LayerNorm encoder_norm_, decoder_norm_;  // pre-norm only
  Copying copying_;
};

}  // namespace heed
