#include "heed/models/luong.h"

#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

LuongConfig checked(const LuongConfig& config) {
  check_common("luong", config, config.dropout);
  check_positive("luong", {{"layers", config.layers}, {"embedding", config.embedding}, {"hidden", config.hidden}});
  return config;
}

// A tied output multiplies by these vectors too: large ones let it learn from the first update on, where Glorot's
// output weights, of deviation 0.016 for 8,000 words, learn next to nothing in the first epochs. A validation of
// Multi30k after one epoch: cross-entropy 4.21 with 0.1, 3.88 with 0.3, 4.33 with 1.
Initialiser embedding_start(const LuongConfig& config) { return uniform_or(config.initial_range, init::normal(0.3)); }
Initialiser linear_start(const LuongConfig& config) { return uniform_or(config.initial_range, init::glorot()); }

LstmOptions lstm_options(const LuongConfig& config) {
  LstmOptions options;
  options.input = linear_start(config);
  options.recurrent = uniform_or(config.initial_range, init::orthogonal());
  return options;
}

}  // namespace

void LuongConfig::visit(Fields& field) {
  field("layers", layers, "layers of the encoder, and of the decoder");
  field("embedding", embedding, "width of a word's vector");
  field("hidden", hidden, "width of the recurrent states");
  field("dropout", dropout, "share of embeddings, of what goes from layer to layer and of the output dropped");
  field("input-feeding", input_feeding, "the last attentional state is an input of the decoder");
  field("reverse-source", reverse_source, "read the source from its end");
  field("initial-range", initial_range, "first weights are within ± this (0: Glorot's)");
  field("tied", tied, "the output's weights are the target words' vectors");
  field("copy", copy, "words may be copied from the source (See et al. 2017)");
  losses.visit(field);
  visit_attention(attention, field);
}

Luong::Luong(const Scope& scope, const LuongConfig& config)
    : config_(checked(config)),
      source_(scope / "source", config.inputs[0], config.embedding, embedding_start(config)),
      target_(scope / "target", config.outputs, config.embedding, embedding_start(config)),
      encoder_(scope / "encoder", config.layers, config.embedding, config.hidden, lstm_options(config)),
      decoder_(scope / "decoder", config.layers, config.input_feeding ? config.hidden : config.embedding, config.hidden,
               lstm_options(config)),
      attention_(scope / "attention", config.attention, config.hidden, config.hidden),
      combine_(scope / "combine", 2 * config.hidden, config.hidden,
               {.bias = false, .activation = Activation::tanh, .initialise = linear_start(config)}),
      output_(scope / "output", config.hidden, target_, config.tied, linear_start(config)) {
  if (config.input_feeding)
    words_ = Linear(scope / "decoder" / "words", config.embedding, 4 * config.hidden,
                    {.bias = false, .initialise = linear_start(config)});
  if (config.copy) copying_ = Copying("luong", scope / "copy", config.hidden, config);
}

Stacked<LstmLayer>::Between Luong::dropping(Random* random) const {
  return [this, random](const Var& x) { return dropped(x, config_.dropout, random); };
}

Luong::Encoded Luong::encode(const Source& source, Random* random) const {
  const Ids words = real_words(source);
  const auto read = encoder_(dropped(source_(words), config_.dropout, random), {},
                             {source.lengths, config_.reverse_source}, dropping(random));
  return {attention_.memory(read.outputs, source.lengths), read.last,
          config_.copy ? copying_.source(source) : CopiedSource()};
}

Luong::State Luong::begin(const Encoded& encoded) const {
  State state{encoded.start, {}, {}, 0};
  if (config_.input_feeding) state.attentional = Tensor(Shape{encoded.memory.batch(), config_.hidden}, Real{0});
  return state;
}

Var Luong::word_gates(const Var& embedded) const {
  return linear(embedded, words_.weight(), decoder_.layers().front().weights().bias);
}

void Luong::advance(State& state, const Var& words, Random* random) const {
  state.layers = config_.input_feeding ? decoder_.step(state.attentional, state.layers, dropping(random), words)
                                       : decoder_.step(words, state.layers, dropping(random));
}

Luong::Attentional Luong::attend(const Var& top, Index position, const Encoded& encoded, const Past& past,
                                 Random* random, bool whole) const {
  SourceAttention::Result attended = attention_(top, position, encoded.memory, past, random, whole);
  const Var states = combine_(joined(attended.read, top));
  return {states, std::move(attended)};
}

// h̃ goes into the next step, so steps come one by one; the words' share of the gates is there before.
Var Luong::fed_states(const Encoded& encoded, const Source& previous, Random* random, AttentionRecord& record) const {
  const Index batch = previous.batch(), n = previous.longest();
  const Var embedded = dropped(target_(real_words_by_time(previous)), config_.dropout, random);
  const Var gates = word_gates(embedded);  // [n, batch, 4·hidden]
  State state = begin(encoded);
  std::vector<Var> states;  // [batch, hidden] each
  for (Index t = 0; t < n; ++t) {
    advance(state, at(gates, 0, t), random);
    const Var top = reshape(decoder_.output(state.layers), Shape{batch, 1, config_.hidden});
    const Attentional now = attend(top, t, encoded, state.past, random);
    record.add(now.attended);
    state.attentional = reshape(now.states, Shape{batch, config_.hidden});
    state.past = now.attended.past;
    states.push_back(state.attentional);
  }
  return stack(states, 1);
}

// The layers run over the whole target at once, and all steps ask at once unless the attention remembers.
Var Luong::unfed_states(const Encoded& encoded, const Source& previous, Random* random, AttentionRecord& record) const {
  const Index n = previous.longest();
  const Var embedded = dropped(target_(real_words(previous)), config_.dropout, random);
  const Var top = decoder_(embedded, encoded.start, {previous.lengths}, dropping(random)).outputs;
  if (!attention_.remembers()) {
    const Attentional all = attend(top, 0, encoded, {}, random, true);
    record.add(all.attended);
    return all.states;
  }
  std::vector<Var> contexts;  // [batch, 1, hidden] each
  Past past;
  for (Index t = 0; t < n; ++t) {
    const SourceAttention::Result attended = attention_(slice(top, 1, t, t + 1), t, encoded.memory, past, random);
    record.add(attended);
    past = attended.past;
    contexts.push_back(attended.read);
  }
  return combine_(joined(concat(contexts, 1), top));
}

WordScores Luong::predicted(const Var& states, const Var& weights, const Encoded& encoded, Random* random) const {
  const WordScores words = output_(dropped(states, config_.dropout, random));
  return config_.copy ? copying_(states, words, weights, encoded.copied) : words;
}

TeacherForced Luong::forward(const Source& source, const Source& previous, const ForwardOptions& options) const {
  Encoded encoded = encode(source, options.random);
  repeat_for_texts(encoded, source, previous);
  encoded.memory.gates = options.gates;
  AttentionRecord record;
  const Var states = config_.input_feeding ? fed_states(encoded, previous, options.random, record)
                                           : unfed_states(encoded, previous, options.random, record);
  TeacherForced result;
  const Var alignment = options.alignment || config_.copy ? record.alignment() : Var();
  if (options.words) result.words = predicted(states, alignment, encoded, options.random);
  if (options.alignment) result.alignment = alignment;
  if (options.trace) options.trace->push_back(record.traced("decoder.source"));
  if (options.random) add_attention_penalty(config_.losses, record, previous, options, result);
  return result;
}

StepScores Luong::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size();
  const Var embedded = target_(previous);
  advance(state, config_.input_feeding ? word_gates(embedded) : embedded, nullptr);
  const Var top = reshape(decoder_.output(state.layers), Shape{rows, 1, config_.hidden});
  const Attentional now = attend(top, state.position, encoded, state.past, nullptr);
  const WordScores scores = predicted(now.states, now.attended.weights, encoded, nullptr);
  if (config_.input_feeding) state.attentional = reshape(now.states, Shape{rows, config_.hidden});
  state.past = now.attended.past;
  ++state.position;
  return {scores, now.attended.weights.value()};
}

namespace {

std::unique_ptr<Config> luong_config(const std::string& preset) {
  auto config = std::make_unique<LuongConfig>();
  if (preset == "small") {
    config->layers = 2, config->embedding = 256, config->hidden = 256;
    config->dropout = 0.3, config->initial_range = 0, config->tied = true;
    config->attention = composed_of("general");
  }
  return config;
}

const RegisterSystem luong{{.name = "luong",
                            .summary = "stacked LSTMs; global or local attention of the current state, input feeding",
                            .paper = "Luong, Pham, Manning 2015",
                            .job = "translation",
                            .presets = {"paper", "small"},
                            .config = luong_config,
                            .make = make_model<Luong, LuongConfig>,
                            .training = {{"learning-rate", "0.002"}, {"schedule", "plateau"}, {"beta2", "0.999"}},
                            .later = {"expected"}}};

}  // namespace
}  // namespace heed
