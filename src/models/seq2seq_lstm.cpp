#include "heed/models/seq2seq_lstm.h"

namespace heed {
namespace {

Seq2SeqLstmConfig checked(const Seq2SeqLstmConfig& config) {
  check_common("seq2seq-lstm", config, config.dropout);
  check_positive("seq2seq-lstm",
                 {{"layers", config.layers}, {"embedding", config.embedding}, {"hidden", config.hidden}});
  return config;
}

Initialiser embedding_start(const Seq2SeqLstmConfig& config) {
  return uniform_or(config.initial_range, init::normal(0.1));
}

LstmOptions lstm_options(const Seq2SeqLstmConfig& config) {
  LstmOptions options;
  options.input = uniform_or(config.initial_range, init::glorot());
  options.recurrent = uniform_or(config.initial_range, init::orthogonal());
  return options;
}

}  // namespace

void Seq2SeqLstmConfig::visit(Fields& field) {
  field("layers", layers, "layers of the encoder, and of the decoder");
  field("embedding", embedding, "width of a word's vector");
  field("hidden", hidden, "width of the recurrent states");
  field("dropout", dropout, "share of embeddings, of what goes from layer to layer and of the output dropped");
  field("reverse-source", reverse_source, "read the source from its end");
  field("initial-range", initial_range, "first weights are within ± this (0: Glorot's)");
  field("tied", tied, "the output's weights are the target words' vectors");
}

Seq2SeqLstm::Seq2SeqLstm(const Scope& scope, const Seq2SeqLstmConfig& config)
    : config_(checked(config)),
      source_(scope / "source", config.inputs[0], config.embedding, embedding_start(config)),
      target_(scope / "target", config.outputs, config.embedding, embedding_start(config)),
      encoder_(scope / "encoder", config.layers, config.embedding, config.hidden, lstm_options(config)),
      decoder_(scope / "decoder", config.layers, config.embedding, config.hidden, lstm_options(config)),
      output_(scope / "output", config.hidden, target_, config.tied, uniform_or(config.initial_range, init::glorot())) {
}

Stacked<LstmLayer>::Between Seq2SeqLstm::dropping(Random* random) const {
  return [this, random](const Var& x) { return dropped(x, config_.dropout, random); };
}

Seq2SeqLstm::Encoded Seq2SeqLstm::encode(const Source& source, Random* random) const {
  const Var embedded = dropped(source_(real_words(source)), config_.dropout, random);
  return {encoder_(embedded, {}, {source.lengths, config_.reverse_source}, dropping(random)).last};
}

TeacherForced Seq2SeqLstm::forward(const Source& source, const Source& previous, const ForwardOptions& options) const {
  Encoded encoded = encode(source, options.random);
  repeat_for_texts(encoded, source, previous);
  const Var embedded = dropped(target_(real_words(previous)), config_.dropout, options.random);
  const Var top = decoder_(embedded, encoded.layers, {previous.lengths}, dropping(options.random)).outputs;
  return {options.words ? output_(dropped(top, config_.dropout, options.random)) : WordScores(), {}, {}};
}

StepScores Seq2SeqLstm::step(const Encoded&, State& state, const Ids& previous) const {
  state.layers = decoder_.step(target_(previous), state.layers);
  return {output_(decoder_.output(state.layers)), {}};
}

namespace {

std::unique_ptr<Config> seq2seq_lstm_config(const std::string& preset) {
  auto config = std::make_unique<Seq2SeqLstmConfig>();
  if (preset == "small") {
    config->layers = 2, config->embedding = 256, config->hidden = 512;
    config->dropout = 0.3;
  }
  return config;
}

const RegisterSystem seq2seq_lstm{
    {.name = "seq2seq-lstm",
     .summary = "stacked LSTMs, the source read backwards, no attention",
     .paper = "Sutskever, Vinyals, Le 2014",
     .job = "translation",
     .presets = {"paper", "small"},
     .config = seq2seq_lstm_config,
     .make = make_model<Seq2SeqLstm, Seq2SeqLstmConfig>,
     .training = {{"learning-rate", "0.002"}, {"schedule", "plateau"}, {"beta2", "0.999"}}}};

}  // namespace
}  // namespace heed
