#include "heed/models/seq2seq_gru.h"

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

Seq2SeqGruConfig checked(const Seq2SeqGruConfig& config) {
  check_common("seq2seq-gru", config, config.dropout);
  check_positive("seq2seq-gru",
                 {{"embedding", config.embedding}, {"hidden", config.hidden}, {"maxout", config.maxout}});
  require(config.rank >= 0, "[seq2seq-gru] a rank of {}", config.rank);
  check_one_of("seq2seq-gru", "reset", config.reset, {"before", "after"});
  check_one_of("seq2seq-gru", "update", config.update, {"keeps", "takes"});
  return config;
}

GruOptions gru_options(const Seq2SeqGruConfig& config) {
  GruOptions options;
  options.form = {config.reset == "before" ? GruReset::before_product : GruReset::after_product,
                  config.update == "keeps" ? UpdateGate::keeps_state : UpdateGate::takes_candidate};
  options.input = normal_or(config.initial_deviation, init::glorot());
  return options;
}

LinearOptions linear_options(const Seq2SeqGruConfig& config, bool bias, Activation activation = Activation::identity) {
  return {bias, activation, normal_or(config.initial_deviation, init::glorot())};
}

Initialiser embedding_start(const Seq2SeqGruConfig& config) {
  return normal_or(config.initial_deviation, init::normal(0.1));
}

}  // namespace

void Seq2SeqGruConfig::visit(Fields& field) {
  field("embedding", embedding, "width of a word's vector");
  field("hidden", hidden, "width of the recurrent states");
  field("maxout", maxout, "units of the readout, each the larger of two");
  field("rank", rank, "rank of the output's weights (0: full)");
  field("reset", reset, "the reset gate acts before (the paper's) or after the recurrent product");
  field("update", update, "the update gate keeps the state (the paper's) or takes the candidate");
  field("dropout", dropout, "share of embeddings and readout dropped in training");
  field("initial-deviation", initial_deviation, "deviation of the first weights (0: Glorot's)");
  field("tied", tied, "the output's weights are the target words' vectors");
}

Seq2SeqGru::Seq2SeqGru(const Scope& scope, const Seq2SeqGruConfig& config)
    : config_(checked(config)),
      source_(scope / "source", config.inputs[0], config.embedding, embedding_start(config)),
      target_(scope / "target", config.outputs, config.embedding, embedding_start(config)),
      encoder_(scope / "encoder", config.embedding, config.hidden, gru_options(config)),
      decoder_(scope / "decoder", config.embedding, config.hidden, gru_options(config)),
      context_(scope / "context", config.hidden, config.hidden, linear_options(config, true, Activation::tanh)),
      start_(scope / "start", config.hidden, config.hidden, linear_options(config, true, Activation::tanh)),
      context_gates_(scope / "decoder" / "context", config.hidden, 3 * config.hidden, linear_options(config, false)),
      context_readout_(scope / "readout" / "context", config.hidden, 2 * config.maxout, linear_options(config, true)),
      readout_(scope / "readout", config.hidden + config.embedding, 2 * config.maxout, linear_options(config, false)),
      output_(scope / "output", config.rank > 0 ? config.rank : config.maxout, target_, config.tied,
              normal_or(config.initial_deviation, init::glorot())) {
  if (config.rank > 0)
    narrow_ = Linear(scope / "output" / "narrow", config.maxout, config.rank, linear_options(config, false));
}

Seq2SeqGru::Encoded Seq2SeqGru::encode(const Source& source, Random* random) const {
  const Var embedded = dropped(source_(real_words(source)), config_.dropout, random);
  const Var context = context_(encoder_(embedded, {}, {source.lengths}).last);
  return {start_(context), linear(context, context_gates_.weight(), decoder_.weights().bias),
          context_readout_(context)};
}

WordScores Seq2SeqGru::predicted(const Var& states, const Var& embedded, const Encoded& encoded, Random* random) const {
  const Var of_context = reshape(encoded.readout, Shape{states.size(0), 1, 2 * config_.maxout});
  const Var units = dropped(maxout(readout_(joined(states, embedded)) + of_context), config_.dropout, random);
  return output_(config_.rank > 0 ? narrow_(units) : units);
}

TeacherForced Seq2SeqGru::forward(const Source& source, const Source& previous, const ForwardOptions& options) const {
  Encoded encoded = encode(source, options.random);
  repeat_for_texts(encoded, source, previous);
  const Var embedded = dropped(target_(real_words(previous)), config_.dropout, options.random);
  GruWeights weights = decoder_.weights();
  weights.bias = encoded.gates;
  const Var states = gru(embedded, weights, encoded.start, decoder_.form(), {previous.lengths}).outputs;
  return {options.words ? predicted(states, embedded, encoded, options.random) : WordScores(), {}, {}};
}

StepScores Seq2SeqGru::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size();
  const auto alone = [rows](const Var& x) { return reshape(x, Shape{rows, 1, x.size(-1)}); };
  const Var embedded = target_(previous);
  state.hidden = decoder_.step(embedded, state.hidden, encoded.gates);
  return {predicted(alone(state.hidden), alone(embedded), encoded, nullptr), {}};
}

namespace {

std::unique_ptr<Config> seq2seq_gru_config(const std::string& preset) {
  auto config = std::make_unique<Seq2SeqGruConfig>();
  if (preset == "small") {
    config->embedding = 256, config->hidden = 512, config->maxout = 256, config->rank = 0;
    config->dropout = 0.3, config->initial_deviation = 0;
  }
  return config;
}

const RegisterSystem seq2seq_gru{{.name = "seq2seq-gru",
                                  .summary = "one GRU each, the source's summary at every step, maxout, no attention",
                                  .paper = "Cho et al. 2014",
                                  .job = "translation",
                                  .presets = {"paper", "small"},
                                  .config = seq2seq_gru_config,
                                  .make = make_model<Seq2SeqGru, Seq2SeqGruConfig>,
                                  .training = {{"schedule", "plateau"}, {"beta2", "0.999"}}}};

}  // namespace
}  // namespace heed
