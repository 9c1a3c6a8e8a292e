#include "heed/models/rnnsearch.h"

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

RnnSearchConfig checked(const RnnSearchConfig& config) {
  check_common("rnnsearch", config, config.dropout);
  check_positive("rnnsearch", {{"embedding", config.embedding}, {"hidden", config.hidden}, {"maxout", config.maxout}});
  return config;
}

LinearOptions linear_options(const RnnSearchConfig& config, bool bias = true,
                             Activation activation = Activation::identity) {
  return {bias, activation, normal_or(config.initial_deviation, init::glorot())};
}

template <class Layer>
typename Layer::Options cell_options(const RnnSearchConfig& config) {
  typename Layer::Options options;
  options.input = normal_or(config.initial_deviation, init::glorot());
  if constexpr (std::is_same_v<Layer, GruLayer>) options.form = {GruReset::before_product, UpdateGate::takes_candidate};
  return options;
}

}  // namespace

void RnnSearchConfig::visit(Fields& field) {
  field("embedding", embedding, "width of a word's vector");
  field("hidden", hidden, "width of the recurrent states, of each direction and of the decoder");
  field("maxout", maxout, "units of the readout, each the larger of two");
  field("cell", cell, "gru (the paper's) or lstm");
  field("dropout", dropout, "share of embeddings, annotations and readout dropped in training");
  field("initial-deviation", initial_deviation, "deviation of the first weights (0: Glorot's)");
  field("tied", tied, "the output's weights are the target words' vectors");
  field("copy", copy, "words may be copied from the source (See et al. 2017)");
  field("query-word", query_word, "the last word, too, says where to look, not the state before it alone");
  field("alignment-reads", alignment_reads,
        "a word's alignment is the look of the step that reads it, not of the one that writes it; use query-word with "
        "it");
  losses.visit(field);
  visit_attention(attention, field);
}

template <class Layer>
RnnSearch<Layer>::RnnSearch(const Scope& scope, const RnnSearchConfig& config)
    : config_(checked(config)),
      source_(scope / "source", config.inputs[0], config.embedding,
              normal_or(config.initial_deviation, init::normal(0.1))),
      target_(scope / "target", config.outputs, config.embedding,
              normal_or(config.initial_deviation, init::normal(0.1))),
      encoder_(scope / "encoder", config.embedding, config.hidden, cell_options<Layer>(config)),
      start_(scope / "start", config.hidden, config.hidden, linear_options(config, true, Activation::tanh)),
      attention_(scope / "attention", config.attention, config.hidden + (config.query_word ? config.embedding : 0),
                 2 * config.hidden),
      decoder_(scope / "decoder", 2 * config.hidden, config.hidden, cell_options<Layer>(config)),
      words_(scope / "decoder" / "words", config.embedding, decoder_.weights().recurrent.size(1),
             linear_options(config, false)),
      readout_(scope / "readout", 3 * config.hidden + config.embedding, 2 * config.maxout, linear_options(config)),
      output_(scope / "output", config.maxout, target_, config.tied,
              normal_or(config.initial_deviation, init::glorot())) {
  if (config.copy) copying_ = Copying("rnnsearch", scope / "copy", 3 * config.hidden + config.embedding, config);
}

template <class Layer>
typename RnnSearch<Layer>::Encoded RnnSearch<Layer>::encode(const Source& source, Random* random) const {
  const Ids words = real_words(source);
  const auto read = encoder_(dropped(source_(words), config_.dropout, random), {}, {source.lengths});
  const Var annotations = dropped(read.outputs, config_.dropout, random);
  return {attention_.memory(annotations, source.lengths), start_(Layer::output(read.last.backward)),
          config_.copy ? copying_.source(source) : CopiedSource()};
}

template <class Layer>
Var RnnSearch<Layer>::query(const Var& before, const Var& word) const {
  const Var asks = config_.query_word ? concat({before, word}, 1) : before;
  return reshape(asks, Shape{asks.size(0), 1, asks.size(1)});
}

template <class Layer>
WordScores RnnSearch<Layer>::predicted(const Var& features, const Var& weights, const Encoded& encoded,
                                       Random* random) const {
  const WordScores words = output_(dropped(maxout(readout_(features)), config_.dropout, random));
  return config_.copy ? copying_(features, words, weights, encoded.copied) : words;
}

// Only what depends on the state before is done step by step; words' shares of the gates come before the loop, the
// readout of all steps after it.
template <class Layer>
TeacherForced RnnSearch<Layer>::forward(const Source& source, const Source& previous,
                                        const ForwardOptions& options) const {
  const Index batch = previous.batch(), n = previous.longest();
  Encoded encoded = encode(source, options.random);
  repeat_for_texts(encoded, source, previous);
  encoded.memory.gates = options.gates;
  const Var embedded = dropped(target_(real_words_by_time(previous)), config_.dropout, options.random);
  const Var gates = linear(embedded, words_.weight(), decoder_.weights().bias);  // [n, batch, gates]
  State state = begin(encoded);
  std::vector<Var> states, contexts;  // [batch, ·] each
  AttentionRecord record;
  for (Index t = 0; t < n; ++t) {
    const Var before = Layer::output(state.cell);
    const SourceAttention::Result attended = attention_(query(before, config_.query_word ? at(embedded, 0, t) : Var()),
                                                        t, encoded.memory, state.past, options.random);
    const Var context = reshape(attended.read, Shape{batch, 2 * config_.hidden});
    record.add(attended);
    states.push_back(before);
    contexts.push_back(context);
    if (t + 1 < n) state = {decoder_.step(context, state.cell, at(gates, 0, t)), attended.past, t + 1};
  }
  const Var features = transpose(concat({stack(states, 0), embedded, stack(contexts, 0)}, -1), 0, 1);
  TeacherForced result;
  const Var alignment = options.alignment || config_.copy ? record.alignment() : Var();
  if (options.words) result.words = predicted(features, alignment, encoded, options.random);
  if (options.alignment) result.alignment = alignment;
  if (options.trace) options.trace->push_back(record.traced("decoder.source"));
  if (options.random) add_attention_penalty(config_.losses, record, previous, options, result);
  return result;
}

template <class Layer>
StepScores RnnSearch<Layer>::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size();
  const auto alone = [rows](const Var& x) { return reshape(x, Shape{rows, 1, x.size(-1)}); };
  const Var embedded = target_(previous), before = Layer::output(state.cell);
  const SourceAttention::Result attended =
      attention_(query(before, embedded), state.position, encoded.memory, state.past, nullptr);
  const Var context = reshape(attended.read, Shape{rows, 2 * config_.hidden});
  const Var features = alone(concat({before, embedded, context}, -1));
  const WordScores scores = predicted(features, attended.weights, encoded, nullptr);
  const Var gates = linear(embedded, words_.weight(), decoder_.weights().bias);
  state = {decoder_.step(context, state.cell, gates), attended.past, state.position + 1};
  return {scores, attended.weights.value()};
}

template class RnnSearch<GruLayer>;
template class RnnSearch<LstmLayer>;

namespace {

std::unique_ptr<Config> rnnsearch_config(const std::string& preset) {
  auto config = std::make_unique<RnnSearchConfig>();
  if (preset == "small") {
    config->embedding = 256, config->hidden = 256, config->maxout = 256;
    config->dropout = 0.3, config->initial_deviation = 0, config->tied = true;
  }
  return config;
}

std::unique_ptr<Model> make_rnnsearch(const Scope& scope, const Config& given) {
  const auto& config = dynamic_cast<const RnnSearchConfig&>(given);
  check_one_of("rnnsearch", "cell", config.cell, {"gru", "lstm"});
  if (config.cell == "lstm") return std::make_unique<RnnSearch<LstmLayer>>(scope, config);
  return std::make_unique<RnnSearch<GruLayer>>(scope, config);
}

const RegisterSystem rnnsearch{{.name = "rnnsearch",
                                .summary = "bidirectional recurrent encoder, attention at every step",
                                .paper = "Bahdanau, Cho, Bengio 2015",
                                .job = "translation",
                                .presets = {"paper", "small"},
                                .config = rnnsearch_config,
                                .make = make_rnnsearch,
                                .training = {{"learning-rate", "0.002"}, {"schedule", "plateau"}, {"beta2", "0.999"}},
                                .later = {"expected", "query-word", "alignment-reads"},
                                .running = {"alignment-reads"}}};

}  // namespace
}  // namespace heed
