#pragma once

#include <memory>
#include <vector>

#include "heed/models/decoder_parts.h"
#include "heed/models/decoding_of.h"

namespace heed {

// Gehring et al. 2017, Convolutional sequence to sequence learning.
//   e = w + p (word and learned position),  block:  x ← √½ (x + GLU(conv_k(x)))
//   encoder:  z = blocks(e W + b) W' + b',   values √½ (z + e)
//   decoder layer:  h = GLU(conv_k(x)) with the words before only,   d = √½ (h W_d + b_d + g), g the target's e
//                   a = softmax(d·z),  c = √m Σ_j a_j √½ (z_j + e_j),   x ← √½ (x + √½ (h + c W_c + b_c))
//   p(y) = softmax((x W'' + b'') W_o + b_o)
// with weight norm on every matrix. The gradient that the decoder sends into z is multiplied by 1 / (2 · decoder
// layers), but not the one into e. The √½ and √m (m the length of the source) are those of the authors' code. Weights
// start as N(0, p/n), N(0, 4p/(k n)) before a GLU (n inputs, p the share kept by dropout), embeddings N(0, 0.1²).
struct ConvS2SConfig final : Config {
  Index layers = 20;          // of the encoder
  Index decoder_layers = 20;  // of the decoder
  Index embedding = 512;
  Index hidden = 512;
  Index kernel = 3;
  double dropout = 0.2;                // of embeddings, of every convolution's input and before the output
  Index longest = 1024;                // positions with a vector of their own; those beyond share the last one
  bool scale_encoder_gradient = true;  // by 1 / (2 · decoder layers)
  bool tied = false;                   // the output's weights are the target words' vectors
  bool copy = false;                   // words may be copied from the source (See et al. 2017)
  AttentionLosses losses;

  void visit(Fields& field) override;
};

class ConvS2S final : public Writer {
 public:
  ConvS2S(const Scope& scope, const ConvS2SConfig& config);

  TeacherForced forward(const Source& source, const Source& previous,
                        const ForwardOptions& options = {}) const override;
  std::vector<AttentionShape> attentions() const override;
  std::unique_ptr<Decoding> start(const Source& source) const override {
    return std::make_unique<DecodingOf<ConvS2S>>(*this, source);
  }
  bool copies() const override { return config_.copy; }
  std::vector<WordTable> word_tables() const override { return {{source_.table()}}; }

  // Weights with their norm applied: once for a batch, or for a whole decoding.
  struct Affine {
    Var weight, bias;
  };
  struct Weights {
    Affine encoder_in, encoder_out, decoder_in, decoder_out, output;
    std::vector<Affine> encoder;
    struct DecoderLayer {
      Affine convolution, query, context;
    };
    std::vector<DecoderLayer> decoder;
  };
  struct Encoded {
    std::shared_ptr<const Weights> weights;  // have no rows
    Memory memory;                           // keys z, values √½ (z + e)
    Var root;                                // √m [batch, 1, 1]
    CopiedSource copied;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(memory, visit), visit(root), visit(copied.words);
    }
  };
  struct State {
    std::vector<Var> inputs;  // of each layer's convolution, the last kernel - 1: [batch, kernel - 1, hidden]
    Index position = 0;
    template <class Visitor>
    void each(Visitor&& visit) {
      each_in(inputs, visit);
    }
  };
  Encoded encode(const Source& source) const { return encode(source, nullptr); }
  State begin(const Encoded& encoded) const;
  StepScores step(const Encoded& encoded, State& state, const Ids& previous) const;

 private:
  // v and g of w = g v / ‖v‖, g starting as ‖v‖, and a bias.
  struct Normed {
    Var v, g, bias;
    Affine applied() const;
  };
  struct DecoderLayer {
    Normed convolution, query, context;
  };
  Encoded encode(const Source& source, Random* random) const;
  // w + p of words [batch, n], the first of them at `position`.
  Var embed(const Embedding& words, const Embedding& positions, const Ids& ids, Index position, Random* random) const;
  // √½ (h + attention), h [batch, n, hidden] and g [batch, n, embedding]; the weights [batch, n, m] go to `attended`.
  // `whole`: see Query.
  Var attend(const Weights::DecoderLayer& layer, const Var& h, const Var& g, const Encoded& encoded,
             std::vector<Var>& attended, bool whole) const;
  WordScores predicted(const Var& x, const Var& alignment, const Encoded& encoded, Random* random) const;

  ConvS2SConfig config_;
  Embedding source_, source_positions_, target_, target_positions_;
  Normed encoder_in_, encoder_out_, decoder_in_, decoder_out_, output_;
  std::vector<Normed> encoder_;
  std::vector<DecoderLayer> decoder_;
  Attention attention_;
  Copying copying_;
};

}  // namespace heed
