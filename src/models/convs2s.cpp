#include "heed/models/convs2s.h"

#include <cmath>

#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/convolution.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/norm.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

ConvS2SConfig checked(const ConvS2SConfig& config) {
  check_common("convs2s", config, config.dropout);
  check_positive("convs2s", {{"layers", config.layers},
                             {"decoder-layers", config.decoder_layers},
                             {"embedding", config.embedding},
                             {"hidden", config.hidden},
                             {"kernel", config.kernel},
                             {"longest", config.longest}});
  return config;
}

AttentionOptions source_attention(Index width) {
  AttentionOptions options = composed_of("dot");
  options.query_width = options.key_width = options.value_width = width;
  return options;
}

// The norm of each output unit's weights, the last axis.
Initialiser norms_of(const Var& weights) {
  return [weights](Tensor& norms, RandomKey) {
    const Tensor& v = weights.value();
    const Index units = norms.size();
    for (Index unit = 0; unit < units; ++unit) {
      double squares = 0;
      for (Index i = unit; i < v.size(); i += units) squares += static_cast<double>(v.data()[i]) * v.data()[i];
      norms.data()[unit] = static_cast<Real>(std::sqrt(squares));
    }
  };
}

// √½ (a + b): the sum of two of equal variance keeps it.
Var mean_sum(const Var& a, const Var& b) { return scale(a + b, static_cast<Real>(std::sqrt(0.5))); }

Var through(const ConvS2S::Affine& map, const Var& x) { return linear(x, map.weight, map.bias); }

}  // namespace

void ConvS2SConfig::visit(Fields& field) {
  field("layers", layers, "layers of the encoder");
  field("decoder-layers", decoder_layers, "layers of the decoder, each with its attention");
  field("embedding", embedding, "width of a word's vector");
  field("hidden", hidden, "width of the convolutions");
  field("kernel", kernel, "words a convolution sees");
  field("dropout", dropout, "share of embeddings, of convolutions' inputs and of the output dropped in training");
  field("longest", longest, "positions with a vector of their own; those beyond share the last one");
  field("scale-encoder-gradient", scale_encoder_gradient, "divide the encoder's gradient by twice the decoder layers");
  field("tied", tied, "the output's weights are the target words' vectors");
  field("copy", copy, "words may be copied from the source (See et al. 2017)");
  losses.visit(field);
}

ConvS2S::ConvS2S(const Scope& scope, const ConvS2SConfig& config)
    : config_(checked(config)),
      source_(scope / "source", config.inputs[0], config.embedding),
      source_positions_(scope / "source" / "positions", config.longest, config.embedding),
      target_(scope / "target", config.outputs, config.embedding),
      target_positions_(scope / "target" / "positions", config.longest, config.embedding),
      attention_(scope / "attention", source_attention(config.embedding)) {
  const Index embedding = config.embedding, hidden = config.hidden;
  const double kept = 1 - config.dropout;
  const auto normed = [](const Scope& place, const Shape& shape, double variance) {
    const Var v = place.parameter("direction", shape, init::normal(std::sqrt(variance)), Use::factor);
    return Normed{v, place.parameter("norm", Shape{shape[-1]}, norms_of(v)),
                  place.parameter("bias", Shape{shape[-1]}, init::zeros())};
  };
  const auto map = [&](const Scope& place, Index in, Index out, double p) {
    return normed(place, Shape{in, out}, p / static_cast<double>(in));
  };
  const auto convolution = [&](const Scope& place) {
    return normed(place, Shape{config.kernel, hidden, 2 * hidden},
                  4 * kept / static_cast<double>(config.kernel * hidden));
  };
  encoder_in_ = map(scope / "encoder" / "in", embedding, hidden, kept);
  for (Index i = 0; i < config.layers; ++i)
    encoder_.push_back(convolution(scope / "encoder" / ("layer" + std::to_string(i))));
  encoder_out_ = map(scope / "encoder" / "out", hidden, embedding, 1);
  decoder_in_ = map(scope / "decoder" / "in", embedding, hidden, kept);
  for (Index i = 0; i < config.decoder_layers; ++i) {
    const Scope layer = scope / "decoder" / ("layer" + std::to_string(i));
    decoder_.push_back({convolution(layer / "convolution"), map(layer / "query", hidden, embedding, 1),
                        map(layer / "context", embedding, hidden, 1)});
  }
  decoder_out_ = map(scope / "decoder" / "out", hidden, embedding, 1);
  if (config.tied) {
    output_.bias = scope.parameter("output.bias", Shape{config.outputs}, init::zeros());
  } else {
    output_ = map(scope / "output", embedding, config.outputs, kept);
  }
  if (config.copy) copying_ = Copying("convs2s", scope / "copy", embedding, config);
}

ConvS2S::Affine ConvS2S::Normed::applied() const { return {v ? weight_norm(v, g) : Var(), bias}; }

Var ConvS2S::embed(const Embedding& words, const Embedding& positions, const Ids& ids, Index position,
                   Random* random) const {
  Ids places(Shape{ids.size(1)});
  for (Index i = 0; i < places.size(); ++i)
    places.data()[i] = static_cast<std::int32_t>(std::min(position + i, config_.longest - 1));
  return dropped(words(ids) + positions(places), config_.dropout, random);
}

ConvS2S::Encoded ConvS2S::encode(const Source& source, Random* random) const {
  auto weights = std::make_shared<Weights>();
  weights->encoder_in = encoder_in_.applied(), weights->encoder_out = encoder_out_.applied();
  weights->decoder_in = decoder_in_.applied(), weights->decoder_out = decoder_out_.applied();
  weights->output = output_.applied();
  for (const Normed& layer : encoder_) weights->encoder.push_back(layer.applied());
  for (const DecoderLayer& layer : decoder_)
    weights->decoder.push_back({layer.convolution.applied(), layer.query.applied(), layer.context.applied()});

  const Ids words = real_words(source);
  const Index batch = source.batch(), m = source.longest();
  const Mask mask = padding_mask(source.lengths.contiguous(), m).reshape(Shape{batch, m, 1});
  const Var real(as_numbers(mask, mask.shape()));  // convolutions must see zeros beyond the end
  const Var e = embed(source_, source_positions_, words, 0, random);
  Var x = through(weights->encoder_in, e);
  for (const Affine& layer : weights->encoder) {
    const Var input = dropped(x * real, config_.dropout, random);
    x = mean_sum(glu(conv1d(input, layer.weight, layer.bias, {.padding = Padding::same})), x);
  }
  Var z = through(weights->encoder_out, x);
  if (config_.scale_encoder_gradient) z = scale_gradient(z, Real{0.5F} / static_cast<Real>(config_.decoder_layers));

  Tensor root(Shape{batch, 1, 1});
  for (Index b = 0; b < batch; ++b)
    root.data()[b] = static_cast<Real>(std::sqrt(static_cast<double>(source.lengths.at({b}))));
  return {weights, attention_.memory(z, mean_sum(z, e), source.lengths), root,
          config_.copy ? copying_.source(source) : CopiedSource()};
}

Var ConvS2S::attend(const Weights::DecoderLayer& layer, const Var& h, const Var& g, const Encoded& encoded,
                    std::vector<Var>& attended, bool whole) const {
  const Index batch = h.size(0), n = h.size(1), m = encoded.memory.size();
  Query query;
  query.vectors = mean_sum(through(layer.query, h), g);
  query.weights = true;  // they are taken in every call
  query.whole = whole;
  const Attended result = attention_(query, encoded.memory);
  attended.push_back(reshape(result.weights, Shape{batch, n, m}));
  const Var context = reshape(result.read, Shape{batch, n, config_.embedding}) * encoded.root;
  return mean_sum(through(layer.context, context), h);
}

WordScores ConvS2S::predicted(const Var& x, const Var& alignment, const Encoded& encoded, Random* random) const {
  const Affine& output = encoded.weights->output;
  const Var features = dropped(through(encoded.weights->decoder_out, x), config_.dropout, random);
  const WordScores words = config_.tied ? WordScores(features, target_.table(), output.bias, {.b = true})
                                        : WordScores(features, output.weight, output.bias);
  return config_.copy ? copying_(features, words, alignment, encoded.copied) : words;
}

namespace {

std::string attention_name(Index layer) { return fmt::format("decoder.layer{}.source", layer + 1); }

// The mean over the layers.
Var mean_of(const std::vector<Var>& weights) {
  Var total = weights.front();
  for (std::size_t i = 1; i < weights.size(); ++i) total = total + weights[i];
  return scale(total, Real{1} / static_cast<Real>(weights.size()));
}

}  // namespace

std::vector<AttentionShape> ConvS2S::attentions() const {
  std::vector<AttentionShape> shapes;
  for (Index i = 0; i < config_.decoder_layers; ++i) shapes.push_back({.name = attention_name(i), .layer = i + 1});
  return shapes;
}

TeacherForced ConvS2S::forward(const Source& source, const Source& previous, const ForwardOptions& options) const {
  Encoded encoded = encode(source, options.random);
  repeat_for_texts(encoded, source, previous);
  encoded.memory.gates = options.gates;
  const Var g = embed(target_, target_positions_, real_words(previous), 0, options.random);
  Var x = through(encoded.weights->decoder_in, g);
  std::vector<Var> attended;
  for (const Weights::DecoderLayer& layer : encoded.weights->decoder) {
    const Var input = dropped(x, config_.dropout, options.random);
    const Affine& convolution = layer.convolution;
    const Var h = glu(conv1d(input, convolution.weight, convolution.bias, {.padding = Padding::causal}));
    x = mean_sum(attend(layer, h, g, encoded, attended, true), x);
  }
  for (std::size_t i = 0; options.trace && i < attended.size(); ++i)
    options.trace->push_back(AttentionRecord{{attended[i]}, {}, 0}.traced(attention_name(static_cast<Index>(i))));

  TeacherForced result;
  const bool wanted = options.alignment || config_.copy || config_.losses.coverage > 0;
  const Var alignment = wanted ? mean_of(attended) : Var();
  if (options.words) result.words = predicted(x, alignment, encoded, options.random);
  if (options.alignment) result.alignment = alignment;
  if (options.random) add_attention_penalty(config_.losses, {{alignment}, {}, 0}, previous, options, result);
  return result;
}

ConvS2S::State ConvS2S::begin(const Encoded& encoded) const {
  const Tensor nothing(Shape{encoded.memory.batch(), config_.kernel - 1, config_.hidden}, Real{0});
  return {std::vector<Var>(decoder_.size(), Var(nothing)), 0};
}

StepScores ConvS2S::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size(), kernel = config_.kernel, hidden = config_.hidden;
  const Var g = embed(target_, target_positions_, previous.reshape(Shape{rows, 1}), state.position, nullptr);
  Var x = through(encoded.weights->decoder_in, g);
  std::vector<Var> attended;
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    const Weights::DecoderLayer& layer = encoded.weights->decoder[i];
    // The convolution at one place: the last inputs in a row times all of its weights.
    const Var seen = concat({state.inputs[i], x}, 1);  // [rows, kernel, hidden]
    const Var matrix = reshape(layer.convolution.weight, Shape{kernel * hidden, 2 * hidden});
    const Var h = glu(linear(reshape(seen, Shape{rows, 1, kernel * hidden}), matrix, layer.convolution.bias));
    state.inputs[i] = slice(seen, 1, 1, kernel);
    x = mean_sum(attend(layer, h, g, encoded, attended, false), x);
  }
  const Var alignment = mean_of(attended);
  ++state.position;
  return {predicted(x, alignment, encoded, nullptr), alignment.value()};
}

namespace {

std::unique_ptr<Config> convs2s_config(const std::string& preset) {
  auto config = std::make_unique<ConvS2SConfig>();
  if (preset == "small") {
    config->layers = 4, config->decoder_layers = 3;
    config->embedding = 256, config->hidden = 256, config->dropout = 0.2;
  }
  return config;
}

const RegisterSystem convs2s{{.name = "convs2s",
                              .summary = "gated convolutions, attention in every decoder layer",
                              .paper = "Gehring et al. 2017",
                              .job = "translation",
                              .presets = {"paper", "small"},
                              .config = convs2s_config,
                              .make = make_model<ConvS2S, ConvS2SConfig>,
                              .training = {{"schedule", "plateau"}, {"beta2", "0.999"}}}};

}  // namespace
}  // namespace heed
