#include "heed/models/abs.h"

#include <algorithm>

#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/convolution.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/pooling.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

constexpr const char* kAttentionName = "decoder.source";

AbsConfig checked(const AbsConfig& config) {
  check_common("abs", config, config.dropout);
  check_one_of("abs", "encoder", config.encoder, {"bow", "conv", "attention"});
  check_positive("abs", {{"context", config.context}, {"embedding", config.embedding}, {"hidden", config.hidden}});
  constexpr Index kMostNeighbours = 64;  // no weight of the attention's encoder bounds them
  require(config.neighbours >= 0 && config.neighbours <= kMostNeighbours && config.layers >= 0,
          "[abs] {} neighbours must be 0 to {}, and {} layers not negative", config.neighbours, kMostNeighbours,
          config.layers);
  return config;
}

// 1 for the first `length` places of each row, else 0: [batch, longest, 1].
Tensor within_lengths(const Ids& lengths, Index longest) {
  const Mask mask = padding_mask(lengths.contiguous(), longest).reshape(Shape{lengths.size(), longest, 1});
  return as_numbers(mask, mask.shape());
}

// The mean of 2Q + 1 neighbours, zeros beyond the ends, of x [batch, m, width]: however long the texts beside it are.
Var smoothed(const Var& x, Index reach) {
  if (reach == 0) return x;
  return mean_pool1d(pad(x, 1, reach, reach), {.window = 2 * reach + 1, .stride = 1});
}

// The last C words before each: [batch, n, C] of previous [batch, n].
Ids contexts_of(const Source& previous, Index count) {
  const Ids words = real_words(previous);
  const Index batch = previous.batch(), n = previous.longest();
  Ids contexts(Shape{batch, n, count}, kBegin);
  for (Index b = 0; b < batch; ++b)
    for (Index t = 0; t < n; ++t)
      for (Index k = std::max<Index>(0, count - 1 - t); k < count; ++k)
        contexts.data()[(b * n + t) * count + k] = words.data()[b * n + t - count + 1 + k];
  return contexts;
}

}  // namespace

void AbsConfig::visit(Fields& field) {
  field("encoder", encoder, "how the text is read: bow, conv or attention");
  field("context", context, "words before the next one that the language model sees");
  field("embedding", embedding, "width of a word's vectors");
  field("hidden", hidden, "width of the language model's hidden layer");
  field("neighbours", neighbours, "neighbours on either side that attention averages and convolutions see");
  field("layers", layers, "layers of the convolutional encoder, each of which halves the text");
  field("dropout", dropout, "share of the hidden layer and of the encoded text dropped in training");
}

Abs::Abs(const Scope& scope, const AbsConfig& config)
    : config_(checked(config)),
      source_(scope / "source", config.inputs[0], config.embedding),
      target_(scope / "target", config.outputs, config.embedding),
      hidden_(scope / "hidden", config.context * config.embedding, config.hidden, {.activation = Activation::tanh}),
      output_(scope / "output", config.hidden + config.embedding, target_, false, init::glorot()) {
  const Index window = 2 * config.neighbours + 1;
  if (config.encoder == "attention") query_ = Embedding(scope / "query", config.outputs, config.embedding);
  if (looks())  // the bag of words looks everywhere alike
    attention_ = SourceAttention(scope / "attention", composed_of(config.encoder == "bow" ? "uniform" : "general"),
                                 config.context * config.embedding, config.embedding);
  for (Index i = 0; !looks() && i < config.layers; ++i)
    convolutions_.emplace_back(scope / "encoder" / ("layer" + std::to_string(i)), window * config.embedding,
                               config.embedding);
}

Var Abs::convolved(const Var& words, const Source& source) const {
  const Index batch = source.batch(), width = config_.embedding;
  Ids lengths = source.lengths.copy();
  // What stands beyond a length is zero for a convolution, and below everything for a maximum.
  constexpr Real kLow = 1e4F;
  const auto lowered = [](const Var& x, const Tensor& real) {
    const Var one(Tensor::scalar(Real{1}));
    return x * Var(real) - scale(one - Var(real), kLow);
  };
  Var x = words;
  for (const Linear& layer : convolutions_) {
    const Index m = x.size(1);
    const Tensor real = within_lengths(lengths, m);
    const Var weight = reshape(layer.weight(), Shape{2 * config_.neighbours + 1, width, width});
    const Var seen = lowered(conv1d(x * Var(real), weight, layer.bias(), {.padding = Padding::same}), real);
    x = tanh(max_pool1d(pad(seen, 1, 0, m % 2, -kLow)));
    for (std::int32_t& length : lengths.values()) length = (length + 1) / 2;
  }
  return reshape(largest(lowered(x, within_lengths(lengths, x.size(1))), 1), Shape{batch, 1, width});
}

Abs::Encoded Abs::encode(const Source& source) const {
  const Var words = source_(real_words(source));
  if (!looks()) return {convolved(words, source), {}};
  const Var values = config_.encoder == "bow"
                         ? words
                         : smoothed(words * Var(within_lengths(source.lengths, source.longest())), config_.neighbours);
  return {{}, attention_.memory(words, values, source.lengths)};
}

Abs::Predicted Abs::predicted(const Encoded& encoded, const Ids& contexts, Random* random) const {
  const Index batch = contexts.size(0), n = contexts.size(1), width = config_.embedding;
  const Shape joined{batch, n, config_.context * width};
  const Var h = hidden_(reshape(target_(contexts), joined));
  Var read, weights;
  if (looks()) {
    const Var queries = config_.encoder == "bow" ? Var(Tensor(joined, Real{0})) : reshape(query_(contexts), joined);
    const SourceAttention::Result attended = attention_(queries, 0, encoded.memory, {}, nullptr);
    read = attended.read, weights = attended.weights;
  } else {
    read = expand(encoded.vector, Shape{batch, n, width});
  }
  return {output_(dropped(concat({h, read}, -1), config_.dropout, random)), weights};
}

std::vector<AttentionShape> Abs::attentions() const {
  return looks() ? std::vector<AttentionShape>{{.name = kAttentionName}} : std::vector<AttentionShape>{};
}

TeacherForced Abs::forward(const Source& source, const Source& previous, const ForwardOptions& options) const {
  Encoded encoded = encode(source);
  repeat_for_texts(encoded, source, previous);
  encoded.memory.gates = options.gates;
  const Predicted found = predicted(encoded, contexts_of(previous, config_.context), options.random);
  if (options.trace && found.weights)
    options.trace->push_back(AttentionRecord{{found.weights}, {}, 0}.traced(kAttentionName));
  return {options.words ? found.words : WordScores(), options.alignment ? found.weights : Var(), {}};
}

Abs::State Abs::begin(const Encoded& encoded) const {
  const Index batch = looks() ? encoded.memory.batch() : encoded.vector.size(0);
  return {Ids(Shape{batch, config_.context}, kBegin)};
}

StepScores Abs::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size(), count = config_.context;
  Ids words(Shape{rows, count});
  for (Index row = 0; row < rows; ++row) {
    std::copy_n(state.words.data() + row * count + 1, count - 1, words.data() + row * count);
    words.data()[(row + 1) * count - 1] = previous.data()[row];
  }
  state.words = words;
  const Predicted found = predicted(encoded, words.reshape(Shape{rows, 1, count}), nullptr);
  return {found.words, found.weights ? found.weights.value() : Tensor()};
}

namespace {

std::unique_ptr<Config> abs_config(const std::string& preset) {
  auto config = std::make_unique<AbsConfig>();
  if (preset == "small") config->embedding = 128, config->hidden = 256, config->dropout = 0.2;
  return config;
}

const RegisterSystem abs_system{
    {.name = "abs",
     .summary = "feed-forward language model beside a bag of words, convolutions or attention",
     .paper = "Rush, Chopra, Weston 2015",
     .job = "summarisation",
     .presets = {"paper", "small"},
     .config = abs_config,
     .make = make_model<Abs, AbsConfig>,
     .training = {{"schedule", "plateau"}, {"beta2", "0.999"}}}};

}  // namespace
}  // namespace heed
