#include "heed/models/rocktaschel.h"

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/shape.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

const RocktaschelConfig& checked(const RocktaschelConfig& config) {
  check_common("rocktaschel", config, config.dropout);
  check_positive("rocktaschel", {{"hidden", config.hidden}});
  check_one_of("rocktaschel", "reading", config.reading, {"conditional", "attention", "word-by-word", "match"});
  check_one_of("rocktaschel", "memory", config.memory, {"states", "words"});
  require(config.memory == "states" || (config.reading != "conditional" && !config.shared),
          "[rocktaschel] memory words: they are looked at and read by no LSTM, which could be shared or conditional");
  require(config.inputs.size() == 2, "[rocktaschel] reads a premise and a hypothesis, not {} inputs",
          config.inputs.size());
  return config;
}

// The paper's score knows the last look. One look at the whole premise has none before it: the score without that part.
// A word that is compared with what it found must find that alone: equal words, before anything is learned.
AttentionOptions attention_options(const RocktaschelConfig& config) {
  AttentionOptions options = config.attention;
  if (options.score == "word-by-word" && config.reading == "attention") options.score = "concat";
  if (options.score == "word-by-word" && config.reading == "match") options.score = "dot";
  return options;
}

// The delimiter and the words, in the room that words and end symbol take.
Ids behind_delimiter(const Ids& words) {
  const Index batch = words.size(0), longest = words.size(1);
  Ids moved(words.shape(), kBegin);
  for (Index b = 0; b < batch; ++b)
    std::copy_n(words.data() + b * longest, longest - 1, moved.data() + b * longest + 1);
  return moved;
}

// 1 for the words of a text, 0 for its end and beyond: [batch, longest, 1].
Tensor words_alone(const Source& text) {
  const Index batch = text.batch(), longest = text.longest();
  Tensor mask(Shape{batch, longest, 1}, Real{0});
  for (Index b = 0; b < batch; ++b)
    std::fill_n(mask.data() + b * longest, std::max<Index>(text.lengths.at({b}) - 1, 0), Real{1});
  return mask;
}

// x [batch, n, width] at each row's last step: [batch, width].
Var last_of(const Var& x, const Ids& lengths) {
  const Index batch = x.size(0), n = x.size(1), width = x.size(2);
  Ids places(Shape{batch});
  for (Index b = 0; b < batch; ++b) places.data()[b] = static_cast<std::int32_t>(b * n + lengths.data()[b] - 1);
  return gather(reshape(x, Shape{batch * n, width}), 0, places);
}

}  // namespace

void RocktaschelConfig::visit(Fields& field) {
  text.visit(field);
  field("hidden", hidden, "width of the recurrent states");
  field(
      "reading", reading,
      "conditional (no attention), attention (one look at the premise), word-by-word, or match (each word is compared "
      "with what it found)");
  field("memory", memory, "what is looked at: states of an LSTM, which the hypothesis is read after, or words alone");
  field("shared", shared, "one LSTM reads premise and hypothesis, so that equal words become like states");
  field("two-way", two_way, "the premise is read after the hypothesis too, with the same weights");
  field("dropout", dropout, "share of what the recurrent layers read, and of the pair's vector, dropped in training");
  visit_attention(attention, field);
}

Rocktaschel::Rocktaschel(const Scope& scope, const RocktaschelConfig& config)
    : config_(checked(config)),
      words_("rocktaschel", scope / "words", config, config.text),
      input_(scope / "input", config.text.embedding, config.hidden) {
  if (config.memory == "states") premise_ = LstmLayer(scope / "premise", config.hidden, config.hidden);
  if (config.memory == "states" || !matches())
    hypothesis_ = config.shared ? premise_ : LstmLayer(scope / "hypothesis", config.hidden, config.hidden);
  if (attends())
    attention_ = SourceAttention(scope / "attention", attention_options(config), config.hidden, config.hidden);
  if (matches()) {
    compared_ = Linear(scope / "compared", 2 * config.hidden, config.hidden, {.activation = Activation::relu});
    matching_ = LstmLayer(scope / "matching", config.hidden, config.hidden);
  }
  combined_ = Linear(scope / "combined", (attends() && !matches() ? 2 : 1) * config.hidden, config.hidden,
                     {.bias = false, .activation = Activation::tanh});
  labels_ = Linear(scope / "labels", (config.two_way ? 2 : 1) * config.hidden, config.outputs);
}

std::vector<AttentionShape> Rocktaschel::attentions() const {
  if (!attends()) return {};
  std::vector<AttentionShape> shapes{
      {.name = word_by_word() ? "hypothesis.premise" : "label.premise", .rows = alignment_axes().first, .columns = 0}};
  if (config_.two_way)
    shapes.push_back({.name = word_by_word() ? "premise.hypothesis" : "label.hypothesis",
                      .rows = word_by_word() ? 0 : kOutput,
                      .columns = 1});
  return shapes;
}

Var Rocktaschel::encode(const Ids& words, Random* random) const {
  return dropped(input_(words_(words, random)), config_.dropout, random);
}

Rocktaschel::Read Rocktaschel::read(const Source& first, const Source& second, const ForwardOptions& options,
                                    const Var& gates) const {
  const Index batch = second.batch(), n = second.longest(), m = first.longest(), hidden = config_.hidden;
  const Ids first_lengths = lengths_without_end(first), second_lengths = second.lengths.contiguous();
  const Var words = encode(real_words(first), options.random);
  const LstmResult before =
      config_.memory == "states" ? premise_(words, {}, {first_lengths}) : LstmResult{.outputs = words, .last = {}};
  const Var asking = encode(behind_delimiter(real_words(second)), options.random);
  const LstmResult after = matches() && config_.memory == "words"
                               ? LstmResult{.outputs = asking, .last = {}}
                               : hypothesis_(asking, {Var(), matches() ? Var() : before.last.cell}, {second_lengths});
  if (!attends()) return {combined_(after.last.hidden), {}};

  Memory memory = attention_.memory(before.outputs, first_lengths);
  Read result;
  Var found;  // r [batch, 1, hidden] of the whole hypothesis, or [batch, n, hidden] of its words
  if (!word_by_word()) {
    memory.gates = gates;
    const auto seen = attention_(reshape(after.last.hidden, Shape{batch, 1, hidden}), 0, memory, {}, options.random);
    found = seen.read;
    result.weights = seen.weights;
  } else {
    // The delimiter's look has no token of its own in the trace: row t of the weights is that of token t - 1.
    if (gates) memory.gates = concat({Var(Tensor(Shape{batch, 1, m}, Real{1})), slice(gates, 1, 0, n - 1)}, 1);
    AttentionRecord record;
    std::vector<Var> reads;  // [batch, 1 or n, hidden]
    const Index at_once = attention_.remembers() ? 1 : n;
    Past past;
    for (Index t = 0; t < n; t += at_once) {
      const auto seen =
          attention_(slice(after.outputs, 1, t, t + at_once), t, memory, past, options.random, !attention_.remembers());
      record.add(seen);
      reads.push_back(seen.read);
      past = seen.past;
    }
    found = reads.size() == 1 ? reads.front() : concat(reads, 1);
    if (options.alignment || options.trace) {
      const Var none(Tensor(Shape{batch, 1, m}, Real{0}));
      const Var moved = n > 1 ? concat({slice(record.alignment(), 1, 1, n), none}, 1) : none;
      result.weights = moved * Var(words_alone(second));
    }
  }
  if (matches()) {
    const Var compared = compared_(concat({square(after.outputs - found), after.outputs * found}, -1));
    const LstmResult matched = matching_(dropped(compared, config_.dropout, options.random), {}, {second_lengths});
    result.vector = combined_(matched.last.hidden);
  } else {
    const Var premise = word_by_word() ? last_of(found, second_lengths) : reshape(found, Shape{batch, hidden});
    result.vector = combined_(concat({premise, after.last.hidden}, -1));
  }
  return result;
}

Chosen Rocktaschel::forward(const std::vector<Source>& inputs, const ForwardOptions& options) const {
  std::vector<Read> reads{read(inputs[0], inputs[1], options, options.gates)};
  if (config_.two_way) reads.push_back(read(inputs[1], inputs[0], options, {}));
  const Var pair = config_.two_way ? joined(reads[0].vector, reads[1].vector) : reads[0].vector;
  Chosen chosen{labels_(dropped(pair, config_.dropout, options.random)), {}, {}};
  if (options.alignment) chosen.alignment = reads[0].weights;
  if (options.trace && attends()) {
    const std::vector<AttentionShape> shapes = attentions();
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const Tensor weights = reads[i].weights.value().contiguous();
      options.trace->push_back(
          {shapes[i].name, weights.reshape(Shape{weights.size(0), 1, weights.size(1), weights.size(2)})});
    }
  }
  return chosen;
}

namespace {

std::unique_ptr<Config> rocktaschel_config(const std::string& preset) {
  auto config = std::make_unique<RocktaschelConfig>();
  if (preset == "small") config->text.embedding = 100, config->dropout = 0.2;
  return config;
}

const RegisterSystem rocktaschel{{.name = "rocktaschel",
                                  .summary = "reads the hypothesis after the premise and looks back at it word by word",
                                  .paper = "Rocktäschel et al. 2016",
                                  .job = "entailment",
                                  .presets = {"paper", "small"},
                                  .config = rocktaschel_config,
                                  .make = make_model<Rocktaschel, RocktaschelConfig>,
                                  .training = {},
                                  .later = {"expected", "shared", "memory"}}};

}  // namespace
}  // namespace heed
