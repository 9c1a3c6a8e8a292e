#include "heed/models/listener.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "heed/attention/windows/median.h"
#include "heed/autograd/ops/ctc.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

ListenerConfig checked(const ListenerConfig& config) {
  check_common("listener", config, config.dropout);
  check_positive("listener", {{"layers", config.layers},
                              {"hidden", config.hidden},
                              {"embedding", config.embedding},
                              {"maxout", config.maxout}});
  check_one_of("listener", "halving", config.halving, {"join", "drop"});
  require(config.halvings >= 0 && config.halvings < config.layers,
          "[listener] time is halved between layers, at most {} times with {}, not {}", config.layers - 1,
          config.layers, config.halvings);
  require(config.ctc_weight >= 0 && config.ctc_search >= 0 && config.ctc_search <= 1,
          "[listener] the weights of CTC are at least 0, and in the search at most 1: {} and {}", config.ctc_weight,
          config.ctc_search);
  require(config.ctc_search == 0 || config.ctc_weight > 0,
          "[listener] a search with CTC needs a model that learned it: ctc-weight is 0");
  require(config.masks >= 0 && config.mask_features >= 0 && config.mask_frames >= 0,
          "[listener] masks, mask-features and mask-frames are at least 0");
  return config;
}

LinearOptions linear_options(const ListenerConfig& config, bool bias = true) {
  return {bias, Activation::identity, normal_or(config.initial_deviation, init::glorot())};
}

template <class Layer>
typename Layer::Options cell_options(const ListenerConfig& config) {
  typename Layer::Options options;
  options.input = normal_or(config.initial_deviation, init::glorot());
  if constexpr (std::is_same_v<Layer, GruLayer>) options.form = {GruReset::before_product, UpdateGate::takes_candidate};
  return options;
}

// Half as many frames [batch, ⌈time/2⌉, ·]: neighbours side by side, or the first of each two. What is missing of the
// last two is zero, as padding is.
Var halved(const Var& x, bool join) {
  const Index batch = x.size(0), time = x.size(1), width = x.size(2), pairs = (time + 1) / 2;
  const Var even = time % 2 == 0 ? x : pad(x, 1, 0, 1);
  if (join) return reshape(even, Shape{batch, pairs, 2 * width});
  return at(reshape(even, Shape{batch, pairs, 2, width}), 2, 0);
}

Ids halved(const Ids& lengths) {
  Ids result = lengths.copy();
  for (std::int32_t& length : result.values()) length = (length + 1) / 2;
  return result;
}

// Of each frame its share in the annotation that it became a part of, [batch, 1, frames]; 0 in the padding.
Tensor shares_of(const Ids& lengths, Index frames, Index together) {
  Tensor shares(Shape{lengths.size(), 1, frames}, Real{0});
  for (Index b = 0; b < lengths.size(); ++b)
    for (Index j = 0, length = lengths.at({b}); j < length; ++j)
      shares.data()[b * frames + j] = Real{1} / static_cast<Real>(std::min(together, length - j / together * together));
  return shares;
}

// Weights of annotations [batch, n, m] as those of frames [batch, n, frames], and the reverse for gates.
Var weights_of_frames(const Var& weights, const Ids& lengths, Index frames, Index together) {
  if (together == 1) return weights;
  Ids places(Shape{frames});
  for (Index j = 0; j < frames; ++j) places.data()[j] = static_cast<std::int32_t>(j / together);
  return gather(weights, 2, places) * Var(shares_of(lengths, frames, together));
}
Var gates_of_annotations(const Var& gates, const Ids& lengths, Index together) {
  if (together == 1 || !gates) return gates;
  const Index frames = gates.size(2), m = (frames + together - 1) / together;
  const Var parts = pad(gates * Var(shares_of(lengths, frames, together)), 2, 0, m * together - frames);
  return sum(reshape(parts, Shape{gates.size(0), gates.size(1), m, together}), -1);
}

// Park et al. 2019, SpecAugment, without its warping: bands of neighbouring features and spans of neighbouring frames
// are zero, which is their mean. A span is no longer than a fifth of the sound.
Tensor masked(const Source& source, const ListenerConfig& config, RandomKey key) {
  Tensor x = source.features.copy();
  const Index frames = x.size(1), width = x.size(2);
  RandomSequence random(key);
  const auto place = [&random](Index whole, Index most) {
    const auto size = static_cast<Index>(random.below(static_cast<std::uint64_t>(std::min(most, whole)) + 1));
    const auto first = static_cast<Index>(random.below(static_cast<std::uint64_t>(whole - size) + 1));
    return std::pair{first, first + size};
  };
  for (Index b = 0; b < source.batch(); ++b) {
    const Index length = source.lengths.at({b});
    Real* const sound = x.data() + b * frames * width;
    for (Index mask = 0; mask < config.masks; ++mask) {
      const auto [low, high] = place(width, config.mask_features);
      for (Index t = 0; t < length; ++t) std::fill(sound + t * width + low, sound + t * width + high, Real{0});
      const auto [from, to] = place(length, std::min(config.mask_frames, length / 5));
      std::fill(sound + from * width, sound + to * width, Real{0});
    }
  }
  return x;
}

}  // namespace

void ListenerConfig::visit(Fields& field) {
  field("layers", layers, "layers of the encoder");
  field("hidden", hidden, "width of the recurrent states, of each direction and of the decoder");
  field("embedding", embedding, "width of the vector of a written letter, phoneme or piece");
  field("maxout", maxout, "units of the readout, each the larger of two");
  field("cell", cell, "gru (the paper's) or lstm");
  field("halvings", halvings, "how often time is halved on the way up the encoder");
  field("halving", halving, "two frames become one by: join (side by side) or drop (every second)");
  field("dropout", dropout, "share of annotations, embeddings and readout dropped in training");
  field("initial-deviation", initial_deviation, "deviation of the first weights (0: Glorot's)");
  field("ctc-weight", ctc_weight, "weight of a CTC loss on the encoder, beside that of the attention (0: none)");
  field("ctc-search", ctc_search, "share of CTC in the scores of the search, 0..1");
  field("end-in-sight", end_in_sight,
        "the search ends only within half-width of the sound's end, whatever pauses there are before it");
  field("masks", masks, "bands of features and spans of frames that training hides (Park et al. 2019; 0: none)");
  field("mask-features", mask_features, "most features of a hidden band");
  field("mask-frames", mask_frames, "most frames of a hidden span");
  visit_attention(attention, field);
  sound.visit(field);
}

template <class Layer>
Listener<Layer>::Listener(const Scope& scope, const ListenerConfig& config)
    : config_(checked(config)),
      target_(scope / "target", config.outputs, config.embedding,
              normal_or(config.initial_deviation, init::normal(0.1))),
      attention_(scope / "attention", config.attention, config.hidden, 2 * config.hidden),
      decoder_(scope / "decoder", 2 * config.hidden, config.hidden, cell_options<Layer>(config)),
      words_(scope / "decoder" / "words", config.embedding, decoder_.weights().recurrent.size(1),
             linear_options(config, false)),
      readout_(scope / "readout", 3 * config.hidden, 2 * config.maxout, linear_options(config)),
      output_(scope / "output", config.maxout, target_, false, normal_or(config.initial_deviation, init::glorot())) {
  for (Index i = 0, width = config.inputs[0]; i < config.layers; ++i) {
    encoder_.emplace_back(scope / "encoder" / ("layer" + std::to_string(i)), width, config.hidden,
                          cell_options<Layer>(config));
    width = 2 * config.hidden * (i < config.halvings && config.halving == "join" ? 2 : 1);
  }
  if (config.ctc_weight > 0) ctc_ = Linear(scope / "ctc", 2 * config.hidden, config.outputs, linear_options(config));
}

template <class Layer>
typename Listener<Layer>::Heard Listener<Layer>::hear(const Source& source, Random* random) const {
  require(source.features && source.features.rank() == 3, "[listener] reads frames [batch, frames, width], not words");
  const bool masks = random && config_.masks > 0;
  Heard heard{Var(masks ? masked(source, config_, random->next()) : source.features), source.lengths.contiguous()};
  for (std::size_t i = 0; i < encoder_.size(); ++i) {
    const Var outputs = encoder_[i](heard.annotations, {}, {heard.lengths}).outputs;
    heard.annotations = dropped(outputs, config_.dropout, random);
    if (static_cast<Index>(i) >= config_.halvings) continue;
    heard.annotations = halved(heard.annotations, config_.halving == "join");
    heard.lengths = halved(heard.lengths);
  }
  return heard;
}

template <class Layer>
typename Listener<Layer>::Encoded Listener<Layer>::encode(const Source& source) const {
  const Heard heard = hear(source, nullptr);
  return {attention_.memory(heard.annotations, heard.lengths),
          config_.ctc_search > 0 ? softmax(ctc_(heard.annotations)) : Var(), source.lengths.contiguous(),
          source.longest()};
}

template <class Layer>
typename Listener<Layer>::State Listener<Layer>::begin(const Encoded& encoded) const {
  const Index batch = encoded.lengths.size();
  State state;
  state.context = Var(Tensor(Shape{batch, 2 * config_.hidden}, Real{0}));
  if (encoded.ctc) state.ctc = CtcPrefix::begin(encoded.ctc.value(), encoded.memory.lengths);
  return state;
}

template <class Layer>
SourceAttention::Result Listener<Layer>::look(const Memory& memory, State& state, const Var& gates,
                                              Random* random) const {
  state.cell = decoder_.step(state.context, state.cell, gates);
  const Var& hidden = Layer::output(state.cell);
  SourceAttention::Result attended =
      attention_(reshape(hidden, Shape{hidden.size(0), 1, hidden.size(1)}), state.position, memory, state.past, random);
  state.context = reshape(attended.read, state.context.shape());
  state.past = attended.past;
  ++state.position;
  return attended;
}

template <class Layer>
WordScores Listener<Layer>::predicted(const Var& state, const Var& context, Random* random) const {
  return output_(dropped(maxout(readout_(concat({state, context}, -1))), config_.dropout, random));
}

// The words' shares of the gates come before the loop, the readout of all steps after it.
template <class Layer>
TeacherForced Listener<Layer>::forward(const Source& source, const Source& previous,
                                       const ForwardOptions& options) const {
  Heard heard = hear(source, options.random);
  Ids frames = source.lengths;
  if (const Ids rows = rows_of_texts(source, previous))
    select_rows(heard.annotations, rows), select_rows(heard.lengths, rows), select_rows(frames, rows);
  Memory memory = attention_.memory(heard.annotations, heard.lengths);
  memory.gates = gates_of_annotations(options.gates, frames, together());
  const Var embedded = dropped(target_(real_words_by_time(previous)), config_.dropout, options.random);
  const Var gates = linear(embedded, words_.weight(), decoder_.weights().bias);  // [n, batch, gates]
  State state;
  state.context = Var(Tensor(Shape{previous.batch(), 2 * config_.hidden}, Real{0}));
  std::vector<Var> states, contexts;  // [batch, ·] each
  AttentionRecord record;
  for (Index t = 0; t < previous.longest(); ++t) {
    record.add(look(memory, state, at(gates, 0, t), options.random));
    states.push_back(Layer::output(state.cell));
    contexts.push_back(state.context);
  }
  TeacherForced result;
  if (options.words) result.words = predicted(stack(states, 1), stack(contexts, 1), options.random);
  for (Var& weights : record.weights)
    if (options.alignment || options.trace) weights = weights_of_frames(weights, frames, source.longest(), together());
  if (options.alignment) result.alignment = record.alignment();
  if (options.trace) options.trace->push_back(record.traced("decoder.frames"));
  if (options.random) add_attention_penalty({}, record, previous, options, result);
  // A text that was drawn is no transcript that CTC could learn from.
  if (options.random && config_.ctc_weight > 0 && !options.row_weights) {
    const Var ctc = ctc_penalty(heard, previous);
    result.penalty = result.penalty ? result.penalty + ctc : ctc;
  }
  return result;
}

// What is read, but for the begin symbol, is what is to be written, but for the end. Sounds too short for their words
// teach nothing here.
template <class Layer>
Var Listener<Layer>::ctc_penalty(const Heard& heard, const Source& previous) const {
  CtcTargets targets{previous.words.slice(1, 1, previous.longest()), previous.lengths.copy(), kBegin};
  for (std::int32_t& count : targets.counts.values()) --count;
  return scale(ctc_loss(ctc_(heard.annotations), heard.lengths, targets, CtcImpossible::nothing),
               static_cast<Real>(config_.ctc_weight));
}

template <class Layer>
void Listener<Layer>::forbid_early_ends(const Tensor& weights, const Ids& lengths, Tensor& words) const {
  const Tensor a = weights.contiguous();
  const Index rows = words.size(0), m = a.size() / rows;
  words = words.copy();
  for (Index row = 0; row < rows; ++row) {
    const std::optional<Index> middle = median_of(a.data() + row * m, m);
    if (middle && *middle + config_.attention.half_width < lengths.at({row}) - 1)
      words.data()[row * words.size(1) + kEnd] = -std::numeric_limits<Real>::infinity();
  }
}

template <class Layer>
Decoding::Step Listener<Layer>::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size();
  const Var gates = linear(target_(previous), words_.weight(), decoder_.weights().bias);
  const SourceAttention::Result attended = look(encoded.memory, state, gates, nullptr);
  const Tensor logits = predicted(Layer::output(state.cell), state.context, nullptr).logits().value();
  const Var weights = weights_of_frames(attended.weights, encoded.lengths, encoded.frames, together());
  Decoding::Step step{logits, weights.value().contiguous().reshape(Shape{rows, encoded.frames})};
  const auto end = [&] {
    if (config_.end_in_sight) forbid_early_ends(attended.weights.value(), encoded.memory.lengths, step.words);
    return step;
  };
  if (!encoded.ctc) return end();
  const Var attention(log_probabilities_of(logits));
  const Var ctc(CtcPrefix::step(encoded.ctc.value(), encoded.memory.lengths, state.ctc, previous));
  const Real share = static_cast<Real>(config_.ctc_search);
  step.words = (scale(attention, 1 - share) + scale(ctc, share)).value();
  step.normalised = true;
  return end();
}

template class Listener<GruLayer>;
template class Listener<LstmLayer>;

namespace {

std::unique_ptr<Config> listener_config(const std::string& preset) {
  auto config = std::make_unique<ListenerConfig>();
  if (preset == "small") {
    config->layers = 3, config->hidden = 128, config->embedding = 64, config->maxout = 128;
    config->halvings = 2, config->dropout = 0.2, config->initial_deviation = 0;
    config->masks = 2;
    config->attention.score_width = 128, config->attention.filter_width = 31;
  }
  return config;
}

std::unique_ptr<Model> make_listener(const Scope& scope, const Config& given) {
  const auto& config = dynamic_cast<const ListenerConfig&>(given);
  check_one_of("listener", "cell", config.cell, {"gru", "lstm"});
  if (config.cell == "lstm") return std::make_unique<Listener<LstmLayer>>(scope, config);
  return std::make_unique<Listener<GruLayer>>(scope, config);
}

std::unique_ptr<Sense> listener_sense(const Config& given, std::size_t input) {
  const auto& config = dynamic_cast<const ListenerConfig&>(given);
  return std::make_unique<SoundSense>(config.sound, config.inputs[input]);
}

const RegisterSystem listener{{.name = "listener",
                               .summary = "recurrent encoder of sounds, attention that knows where it was",
                               .paper = "Chorowski et al. 2015",
                               .job = "recognition",
                               .presets = {"paper", "small"},
                               .config = listener_config,
                               .make = make_listener,
                               .training = {{"learning-rate", "0.001"}, {"schedule", "plateau"}, {"beta2", "0.999"}},
                               .later = {"end-in-sight"},
                               .running = {"window", "half-width", "end-in-sight", "ctc-search"},
                               .sense = listener_sense}};

}  // namespace
}  // namespace heed
