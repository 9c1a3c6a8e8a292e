#include "heed/models/date_reader.h"

#include <algorithm>

#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

GruOptions bahdanau_gru() { return {.form = {GruReset::before_product, UpdateGate::takes_candidate}}; }

AttentionOptions with_widths(AttentionOptions options, Index hidden) {
  options.query_width = hidden;
  options.key_width = options.value_width = 2 * hidden;
  if (options.longest == 0) options.longest = 64;
  return options;
}

}  // namespace

DateReader::DateReader(const Scope& scope, const DateReaderConfig& config)
    : config_(config),
      characters_(scope / "characters", config.characters, config.embedding),
      symbols_(scope / "symbols", config.symbols + 1, config.embedding),  // the last one stands before the first
      encoder_(scope / "encoder", config.embedding, config.hidden, bahdanau_gru()),
      start_(scope / "start", config.hidden, config.hidden, {.activation = Activation::tanh}),
      attention_(scope / "attention", with_widths(config.attention, config.hidden)),
      decoder_(scope / "decoder", config.embedding + 2 * config.hidden, config.hidden, bahdanau_gru()),
      output_(scope / "output", 3 * config.hidden, config.symbols) {}

DateReader::Encoded DateReader::encode(const Ids& written, const Ids& lengths) const {
  const auto read = encoder_(characters_(written), {}, {lengths});
  return {attention_.memory(read.outputs, read.outputs, lengths), {start_(read.last.backward), {}}};
}

DateReader::Step DateReader::step(const Encoded& encoded, const State& state, const Ids& previous, Index position,
                                  Random* random) const {
  const Index batch = state.hidden.size(0), hidden = state.hidden.size(1);
  Query query;
  query.vectors = reshape(state.hidden, Shape{batch, 1, hidden});
  query.position = position;
  query.past = &state.past;
  query.training = random != nullptr;
  if (random) query.key = random->next();
  const Attended attended = attention_(query, encoded.memory);
  const Var context = reshape(attended.read, Shape{batch, 2 * hidden});
  const Var next = decoder_.step(concat({symbols_(previous), context}, -1), state.hidden);
  return {output_(concat({next, context}, -1)), attended.weights, {next, attended.past}};
}

Var DateReader::forward(const Ids& written, const Ids& lengths, const Ids& output, Random& random) const {
  const Index batch = lengths.size();
  require((output.shape() == Shape{batch, config_.length}), "[date_reader] outputs {} are not {} of {}",
          output.shape().text(), batch, config_.length);
  const Encoded encoded = encode(written, lengths);
  State state = encoded.start;
  std::vector<Var> logits;
  Ids previous(Shape{batch}, static_cast<std::int32_t>(config_.symbols));
  for (Index t = 0; t < config_.length; ++t) {
    Step now = step(encoded, state, previous, t, &random);
    logits.push_back(now.logits);
    state = std::move(now.state);
    previous = output.slice(1, t, t + 1).reshape(Shape{batch});
  }
  return stack(logits, 1);
}

DateReader::Reading DateReader::read(const Ids& written) const {
  require(written.rank() == 1 && written.size() > 0, "[date_reader] there is nothing to read");
  const NoGradient off;
  const Index m = written.size();
  const Encoded encoded = encode(written.reshape(Shape{1, m}), Ids(Shape{1}, static_cast<std::int32_t>(m)));
  State state = encoded.start;
  Reading reading{Ids(Shape{config_.length}), Tensor(Shape{config_.length, m})};
  Ids previous(Shape{1}, static_cast<std::int32_t>(config_.symbols));
  for (Index t = 0; t < config_.length; ++t) {
    Step now = step(encoded, state, previous, t, nullptr);
    const auto scores = now.logits.value().values();
    const auto best = static_cast<std::int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    reading.symbols.data()[t] = best;
    previous = Ids(Shape{1}, best);
    std::copy_n(now.weights.value().contiguous().data(), m, reading.weights.data() + t * m);
    state = std::move(now.state);
  }
  return reading;
}

}  // namespace heed
