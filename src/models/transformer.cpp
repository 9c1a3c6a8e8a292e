#include "heed/models/transformer.h"

#include <cmath>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

TransformerConfig checked(const TransformerConfig& config) {
  check_common("transformer", config, config.dropout);
  check_positive("transformer", {{"layers", config.layers},
                                 {"decoder-layers", config.decoder_layers},
                                 {"width", config.width},
                                 {"feed-forward", config.feed_forward}});
  check_one_of("transformer", "norm", config.norm, {"post", "pre"});
  check_one_of("transformer", "positions", config.positions, {"sinusoidal", "relative", "alibi", "rotary", "none"});
  check_one_of("transformer", "tied", config.tied, {"all", "output", "none"});
  require(config.neighbours >= 0, "[transformer] {} neighbours", config.neighbours);
  require(config.alignment_layer >= 0 && config.alignment_layer <= config.decoder_layers,
          "[transformer] alignment layer {} of {}", config.alignment_layer, config.decoder_layers);
  require(config.tied != "all" || config.inputs[0] == config.outputs,
          "[transformer] one table for both sides needs one vocabulary, not {} and {} words", config.inputs[0],
          config.outputs);
  return config;
}

MultiHeadOptions self_attention(const TransformerConfig& config, bool causal) {
  MultiHeadOptions options{config.width, {}};
  options.attention.heads = config.heads;
  const bool in_scores = config.positions != "sinusoidal" && config.positions != "none";
  options.attention.score = in_scores ? config.positions : "scaled-dot";
  if (config.neighbours > 0) options.attention.neighbours = config.neighbours;
  options.attention.window = config.neighbours > 0 ? (causal ? "recent" : "restricted") : causal ? "causal" : "global";
  return options;
}

MultiHeadOptions source_attention(const TransformerConfig& config) {
  MultiHeadOptions options{config.width, {}};
  options.attention.heads = config.heads;
  return options;
}

// Of the attention of a layer, from 0, in a part of the model to `what`.
template <class Layer>
std::string attention_name(const char* part, Layer layer, const char* what) {
  return fmt::format("{}.layer{}.{}", part, layer + 1, what);
}

void traced(const ForwardOptions& options, const std::string& name, const AttentionWeights& weights) {
  if (options.trace) options.trace->push_back({name, weights.value()});
}

}  // namespace

void TransformerConfig::visit(Fields& field) {
  field("layers", layers, "layers of the encoder");
  field("decoder-layers", decoder_layers, "layers of the decoder");
  field("width", width, "width of the model");
  field("feed-forward", feed_forward, "inner width of the feed-forward parts");
  field("heads", heads, "attention heads");
  field("dropout", dropout, "share of numbers dropped in training");
  field("norm", norm, "where the layer norm stands: post (the paper's) or pre");
  field("positions", positions, "sinusoidal, relative, alibi, rotary or none");
  field("neighbours", neighbours, "restrict self-attention to so many positions (0: all)");
  field("tied", tied, "one table for: all, output (target and output) or none");
  field("alignment-layer", alignment_layer, "decoder layer that gives the alignment, from 1 (0: last but one)");
  field("alignment-reads", alignment_reads,
        "a word's alignment is where the decoder looks after it has read the word, not before");
  field("copy", copy, "words may be copied from the source (See et al. 2017)");
  losses.visit(field);
}

Transformer::Transformer(const Scope& scope, const TransformerConfig& config)
    : config_(checked(config)), pre_norm_(config.norm == "pre") {
  const Index width = config.width;
  const Initialiser initialise = init::normal(1 / std::sqrt(static_cast<double>(width)));
  target_table_ = Embedding(scope / "target", config.outputs, width, initialise);
  source_table_ =
      config.tied == "all" ? target_table_ : Embedding(scope / "source", config.inputs[0], width, initialise);
  output_table_ =
      config.tied == "none" ? Embedding(scope / "output", config.outputs, width, initialise) : target_table_;
  const auto feed_forward = [&](const Scope& layer) {
    return FeedForward{Linear(layer / "inner", width, config.feed_forward, {.activation = Activation::relu}),
                       Linear(layer / "outer", config.feed_forward, width)};
  };
  for (Index i = 0; i < config.layers; ++i) {
    const Scope layer = scope / "encoder" / ("layer" + std::to_string(i));
    encoder_.push_back({MultiHead(layer / "self", self_attention(config, false)), feed_forward(layer / "feed_forward"),
                        LayerNorm(layer / "self_norm", width), LayerNorm(layer / "feed_forward_norm", width)});
  }
  for (Index i = 0; i < config.decoder_layers; ++i) {
    const Scope layer = scope / "decoder" / ("layer" + std::to_string(i));
    decoder_.push_back({MultiHead(layer / "self", self_attention(config, true)),
                        MultiHead(layer / "source", source_attention(config)), feed_forward(layer / "feed_forward"),
                        LayerNorm(layer / "self_norm", width), LayerNorm(layer / "source_norm", width),
                        LayerNorm(layer / "feed_forward_norm", width)});
  }
  if (pre_norm_) {
    encoder_norm_ = LayerNorm(scope / "encoder" / "norm", width);
    decoder_norm_ = LayerNorm(scope / "decoder" / "norm", width);
  }
  if (config.copy) copying_ = Copying("transformer", scope / "copy", width, config);
}

Tensor Transformer::sinusoids(Index first, Index count, Index width) {
  Tensor table(Shape{count, width});
  for (Index p = 0; p < count; ++p) {
    for (Index i = 0; i < width; ++i) {
      const double exponent = static_cast<double>(i - i % 2) / static_cast<double>(width);
      const double angle = static_cast<double>(first + p) / std::pow(10000.0, exponent);
      table.data()[p * width + i] = static_cast<Real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

template <class Sublayer>
Var Transformer::around(const LayerNorm& norm, const Var& x, Random* random, const Sublayer& sublayer) const {
  if (pre_norm_) return x + dropped(sublayer(norm(x)), config_.dropout, random);
  return norm(dropped(sublayer(x), config_.dropout, random), x);
}

Var Transformer::feed(const FeedForward& layer, const Var& x, Random* random) const {
  return layer.outer(dropped(layer.inner(x), config_.dropout, random));
}

Var Transformer::embed(const Embedding& table, const Ids& ids, Index first, Random* random) const {
  Var x = scale(table(ids), static_cast<Real>(std::sqrt(static_cast<double>(config_.width))));
  if (config_.positions == "sinusoidal") x = x + Var(sinusoids(first, ids.size(1), config_.width));
  return dropped(x, config_.dropout, random);
}

Var Transformer::encoded(const Source& source, const ForwardOptions& options) const {
  Var x = embed(source_table_, real_words(source), 0, options.random);
  for (std::size_t i = 0; i < encoder_.size(); ++i) {
    const EncoderLayer& layer = encoder_[i];
    x = around(layer.self_norm, x, options.random, [&](const Var& y) {
      const MultiHead::Result result = layer.self(y, layer.self.memory(y, source.lengths));
      traced(options, attention_name("encoder", i, "self"), result.weights);
      return result.read;
    });
    x = around(layer.feed_forward_norm, x, options.random,
               [&](const Var& y) { return feed(layer.feed_forward, y, options.random); });
  }
  return pre_norm_ ? encoder_norm_(x) : x;
}

Index Transformer::alignment_layer() const {
  return config_.alignment_layer > 0 ? config_.alignment_layer - 1 : std::max<Index>(0, config_.decoder_layers - 2);
}

std::vector<AttentionShape> Transformer::attentions() const {
  std::vector<AttentionShape> shapes;
  const auto add = [&](const char* side, std::size_t layer, const char* what, int rows, int columns) {
    shapes.push_back({attention_name(side, layer, what), static_cast<Index>(layer) + 1, config_.heads, rows, columns});
  };
  for (std::size_t i = 0; i < encoder_.size(); ++i) add("encoder", i, "self", 0, 0);
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    add("decoder", i, "self", kOutput, kOutput);
    add("decoder", i, "source", kOutput, 0);
  }
  return shapes;
}

TeacherForced Transformer::forward(const Source& source, const Source& previous, const ForwardOptions& options) const {
  TeacherForced result;
  const bool aligned = options.alignment || config_.copy || (options.random && config_.losses.coverage > 0);
  Var alignment;
  Var read = encoded(source, options);
  Ids lengths = source.lengths;
  CopiedSource copied = config_.copy ? copying_.source(source) : CopiedSource();
  if (const Ids rows = rows_of_texts(source, previous))
    select_rows(read, rows), select_rows(lengths, rows), select_rows(copied.words, rows);
  Var x = embed(target_table_, real_words(previous), 0, options.random);
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    const DecoderLayer& layer = decoder_[i];
    x = around(layer.self_norm, x, options.random, [&](const Var& y) {
      const MultiHead::Result attended = layer.self(y, layer.self.memory(y, previous.lengths));
      traced(options, attention_name("decoder", i, "self"), attended.weights);
      return attended.read;
    });
    x = around(layer.source_norm, x, options.random, [&](const Var& y) {
      const bool layer_aligns = static_cast<Index>(i) == alignment_layer(), aligns = aligned && layer_aligns;
      Query query;
      query.vectors = y;
      query.weights = aligns, query.whole = true;
      Memory memory = layer.source.memory(read, lengths);
      if (layer_aligns) memory.gates = options.gates;
      const MultiHead::Result attended = layer.source(query, memory);
      traced(options, attention_name("decoder", i, "source"), attended.weights);
      if (aligns) alignment = mean(attended.weights, 1);
      return attended.read;
    });
    x = around(layer.feed_forward_norm, x, options.random,
               [&](const Var& y) { return feed(layer.feed_forward, y, options.random); });
  }
  if (options.words) result.words = predicted(x, alignment, copied);
  if (options.alignment) result.alignment = alignment;
  if (options.random) add_attention_penalty(config_.losses, {{alignment}, {}, 0}, previous, options, result);
  return result;
}

Transformer::Encoded Transformer::encode(const Source& source) const {
  const Var read = encoded(source, {});
  Encoded result;
  for (const DecoderLayer& layer : decoder_) result.source.push_back(layer.source.memory(read, source.lengths));
  if (config_.copy) result.copied = copying_.source(source);
  return result;
}

WordScores Transformer::predicted(const Var& x, const Var& alignment, const CopiedSource& source) const {
  const Var top = pre_norm_ ? decoder_norm_(x) : x;
  const WordScores words(top, output_table_.table(), {}, {.b = true});
  return config_.copy ? copying_(top, words, alignment, source) : words;
}

Transformer::State Transformer::begin(const Encoded&) const { return {std::vector<Memory>(decoder_.size()), 0}; }

StepScores Transformer::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size();
  Var alignment;
  Var x = embed(target_table_, previous.reshape(Shape{rows, 1}), state.position, nullptr);
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    const DecoderLayer& layer = decoder_[i];
    x = around(layer.self_norm, x, nullptr, [&](const Var& y) {
      state.words[i] = layer.self.extended(state.words[i], y);
      return layer.self(y, state.words[i], state.position).read;
    });
    x = around(layer.source_norm, x, nullptr, [&](const Var& y) {
      Query query;
      query.vectors = y;
      query.weights = static_cast<Index>(i) == alignment_layer();
      const MultiHead::Result attended = layer.source(query, encoded.source[i]);
      if (query.weights) alignment = mean(Var(attended.weights.value()), 1);
      return attended.read;
    });
    x = around(layer.feed_forward_norm, x, nullptr, [&](const Var& y) { return feed(layer.feed_forward, y, nullptr); });
  }
  ++state.position;
  return {predicted(x, alignment, encoded.copied), alignment.value()};
}

namespace {

std::unique_ptr<Config> transformer_config(const std::string& preset) {
  auto config = std::make_unique<TransformerConfig>();
  if (preset == "big") {
    config->width = 1024, config->feed_forward = 4096, config->heads = 16, config->dropout = 0.3;
  } else if (preset == "small") {
    config->layers = config->decoder_layers = 3;
    config->width = 256, config->feed_forward = 512, config->heads = 4, config->dropout = 0.2;
    config->norm = "pre";  // learns without a long warm-up
  }
  return config;
}

const RegisterSystem transformer{{.name = "transformer",
                                  .summary = "attention only: multi-head self-attention and feed-forward layers",
                                  .paper = "Vaswani et al. 2017",
                                  .job = "translation",
                                  .presets = {"paper", "big", "small"},
                                  .config = transformer_config,
                                  .make = make_model<Transformer, TransformerConfig>,
                                  .training = {{"learning-rate", "0.002"}},
                                  .later = {"copy", "coverage-loss", "alignment-reads"},
                                  .running = {"alignment-reads"}}};

}  // namespace
}  // namespace heed
