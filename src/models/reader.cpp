#include "heed/models/reader.h"

#include <algorithm>

#include "heed/autograd/ops/along.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/data/sample_batches.h"

namespace heed {
namespace {

constexpr Real kFloor = Real{1e-10F};     // probability of a choice that does not occur
constexpr Real kNoChoice = Real{-1e30F};  // score beyond the last choice of a sample

const ReaderConfig& checked_reader(const char* name, const ReaderConfig& config) {
  check_dropout(name, config.dropout);
  check_positive(name, {{"hidden", config.hidden}});
  check_one_of(name, "answer-from", config.answer_from, {"document", "options"});
  require(config.inputs.size() == 2, "[{}] reads a document and a question, not {} inputs", name, config.inputs.size());
  return config;
}

// ln Σ_{i: d_i is c} s_i: [batch, choices].
Var summed_by_choice(const Var& weights, const Ids& marks, Index choices) {
  Ids classes = marks.copy();  // words that are no choice fall into one behind the last
  for (std::int32_t& mark : classes.values())
    if (mark < 0) mark = static_cast<std::int32_t>(choices);
  const Var sums = slice(sum_along(weights, classes, choices + 1), 1, 0, choices);
  return log(sums + Var(Tensor::scalar(kFloor)));
}

// 0 for the choices of a sample, and kNoChoice beyond them.
Tensor absent_choices(const Source& choices) {
  const Ids counts = choice_counts(choices);
  const Index batch = choices.batch(), most = choices.ends.size(1);
  Tensor absent(Shape{batch, most}, Real{0});
  for (Index b = 0; b < batch; ++b)
    std::fill(absent.data() + b * most + counts.data()[b], absent.data() + (b + 1) * most, kNoChoice);
  return absent;
}

// [batch, choices, words]: what takes the mean of the words of each choice.
Tensor means_of_choices(const Source& choices) {
  const Index batch = choices.batch(), most = choices.ends.size(1), words = choices.longest();
  Tensor means(Shape{batch, most, words}, Real{0});
  for (Index b = 0; b < batch; ++b) {
    Index begin = 0;
    for (Index c = 0; c < most; ++c) {
      const Index end = choices.ends.data()[b * most + c];
      if (end <= begin) break;
      std::fill_n(means.data() + (b * most + c) * words + begin, end - begin, Real{1} / static_cast<Real>(end - begin));
      begin = end;
    }
  }
  return means;
}

// x [batch, n, width] at the marked place of each row: [batch, width].
Var at_mark(const char* name, const Var& x, const Source& text) {
  require(static_cast<bool>(text.marks), "[{}] needs to know where the question has its blank", name);
  const Index batch = x.size(0), n = x.size(1);
  Ids places(Shape{batch});
  for (Index b = 0; b < batch; ++b) {
    const std::int32_t* const row = text.marks.data() + b * n;
    const std::int32_t* const blank = std::find(row, row + n, 0);
    places.data()[b] = static_cast<std::int32_t>(b * n + (blank == row + n ? 0 : blank - row));
  }
  return gather(reshape(x, Shape{batch * n, x.size(2)}), 0, places);
}

}  // namespace

void ReaderConfig::visit(Fields& field) {
  text.visit(field);
  field("hidden", hidden, "width of the recurrent states, of each direction");
  field("answer-from", answer_from,
        "document (a word of it, or candidates that occur in it) or options (which need not occur)");
  field("dropout", dropout, "share of the encoded words dropped in training");
}

std::unique_ptr<Config> reader_config(const std::string& preset) {
  auto config = std::make_unique<ReaderConfig>();
  if (preset == "small") config->text.embedding = 100, config->hidden = 96;
  return config;
}

Reader::Reader(const char* name, const Scope& scope, const ReaderConfig& config, bool own_question)
    : name_(name),
      config_(checked_reader(name, config)),
      words_(name, scope / "words", config, config.text),
      document_(scope / "encoder", config.text.embedding, config.hidden),
      question_(own_question ? Encoder(scope / "question", config.text.embedding, config.hidden) : document_) {
  if (config.answer_from == "options")
    answer_ = Linear(scope / "answer", 4 * config.hidden, config.text.embedding, {.activation = Activation::tanh});
}

Reader::Encoded Reader::encode(const Encoder& encoder, const Source& text, Random* random) const {
  const Ids lengths = lengths_without_end(text);
  Encoder::Result states = encoder(words_(text, random), {}, {lengths});
  states.outputs = dropped(states.outputs, config_.dropout, random);
  return {std::move(states), lengths};
}

Chosen Reader::forward(const std::vector<Source>& inputs, const ForwardOptions& options) const {
  require(inputs.size() == 3 && inputs[0].marks && inputs[2].ends,
          "[{}] needs a document whose words are marked, a question, and what can be chosen", name_);
  const Source &text = inputs[0], &asked = inputs[1], &choices = inputs[2];
  const Encoded document = encode(document_, text, options.random), question = encode(question_, asked, options.random);
  const Index batch = text.batch(), d = text.longest();
  std::vector<AttentionOfBatch> further;
  Var weights = look(document, question, options.trace ? &further : nullptr);
  if (options.trace) {
    options.trace->push_back({"answer.document", weights.value().contiguous().reshape(Shape{batch, 1, 1, d})});
    std::move(further.begin(), further.end(), std::back_inserter(*options.trace));
  }
  const Var alignment = options.alignment ? reshape(weights, Shape{batch, 1, d}) : Var();
  if (options.gates) weights = weights * reshape(options.gates, Shape{batch, d});

  Var scores;
  if (config_.answer_from == "document") {
    scores = summed_by_choice(weights, text.marks, choices.ends.size(1));
  } else {
    const Var read = matmul(reshape(weights, Shape{batch, 1, d}), document.states.outputs);
    scores = option_scores(reshape(read, Shape{batch, read.size(2)}), question, asked, choices, options.random);
  }
  return {scores + Var(absent_choices(choices)), alignment, {}};
}

Var Reader::option_scores(const Var& read, const Encoded& question, const Source& asked, const Source& choices,
                          Random* random) const {
  const Var wanted = answer_(concat({read, at_mark(name_, question.states.outputs, asked)}, -1));  // [batch, embedding]
  const Var vectors = matmul(Var(means_of_choices(choices)), words_(choices, random));  // [batch, choices, embedding]
  const Index batch = read.size(0), width = wanted.size(1);
  return reshape(matmul(vectors, reshape(wanted, Shape{batch, width, 1})), Shape{batch, vectors.size(1)});
}

}  // namespace heed
