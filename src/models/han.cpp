#include "heed/models/han.h"

#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

const HanConfig& checked(const HanConfig& config) {
  check_common("han", config, config.dropout);
  check_positive("han", {{"hidden", config.hidden}, {"sentence", config.sentence}});
  require(config.inputs.size() == 1, "[han] reads one document, not {}", config.inputs.size());
  return config;
}

// The numbers `ids` of x, wherever they stand: [shape of ids].
Var numbers_at(const Var& x, const Ids& ids) {
  const Index all = x.value().size();
  return reshape(gather(reshape(x, Shape{all}), 0, ids.reshape(Shape{ids.size()})), ids.shape());
}

// Where each sentence of a document begins, and the end of the last.
std::vector<Index> sentence_begins(const Ids& ends, Index document, Index words, Index longest) {
  std::vector<Index> begins{0};
  const auto add = [&](Index end) {
    const Index begin = begins.back(), parts = (end - begin + longest - 1) / longest;
    for (Index part = 1; part <= parts; ++part) begins.push_back(begin + (end - begin) * part / parts);
  };
  for (Index s = 0; ends && s < ends.size(1); ++s) {
    const Index end = std::min<Index>(ends.data()[document * ends.size(1) + s], words);
    if (end > begins.back()) add(end);
  }
  if (begins.back() < words) add(words);
  return begins;
}

}  // namespace

SentenceRows sentence_rows(const Source& document, Index longest) {
  const Index batch = document.batch(), width = document.longest();
  const Ids all = real_words(document), lengths = document.lengths.contiguous(),
            ends = document.ends ? document.ends.contiguous() : Ids();
  std::vector<std::vector<Index>> begins;
  Index sentences = 0, most = 0, longest_sentence = 1;
  for (Index b = 0; b < batch; ++b) {
    const Index words = std::max<Index>(lengths.data()[b] - 1, 1);  // without the end symbol
    begins.push_back(sentence_begins(ends, b, words, longest));
    const auto count = static_cast<Index>(begins.back().size()) - 1;
    sentences += count;
    most = std::max(most, count);
    for (std::size_t s = 0; s + 1 < begins.back().size(); ++s)
      longest_sentence = std::max(longest_sentence, begins.back()[s + 1] - begins.back()[s]);
  }
  SentenceRows result{.words = Ids(Shape{sentences, longest_sentence}, 0),
                      .lengths = Ids(Shape{sentences}),
                      .rows = Ids(Shape{batch, most}, 0),
                      .counts = Ids(Shape{batch}),
                      .from = Ids(Shape{sentences, longest_sentence}, 0),
                      .sentence = Ids(Shape{batch, width}, 0),
                      .word = Ids(Shape{batch, width}, 0),
                      .inside = Tensor(Shape{batch, width}, Real{0})};
  const auto id = [](Index i) { return static_cast<std::int32_t>(i); };
  Index row = 0;
  for (Index b = 0; b < batch; ++b) {
    const std::vector<Index>& places = begins[static_cast<std::size_t>(b)];
    const auto count = static_cast<Index>(places.size()) - 1;
    result.counts.data()[b] = id(count);
    for (Index s = 0; s < count; ++s, ++row) {
      const Index begin = places[static_cast<std::size_t>(s)], end = places[static_cast<std::size_t>(s) + 1];
      result.lengths.data()[row] = id(end - begin);
      result.rows.data()[b * most + s] = id(row);
      for (Index j = begin; j < end; ++j) {
        const Index at = row * longest_sentence + j - begin, place = b * width + j;
        result.words.data()[at] = all.data()[place];
        result.from.data()[at] = id(place);
        result.sentence.data()[place] = id(b * most + s);
        result.word.data()[place] = id(at);
        result.inside.data()[place] = Real{1};
      }
    }
  }
  return result;
}

void HanConfig::visit(Fields& field) {
  text.visit(field);
  field("hidden", hidden, "width of the recurrent states, of each direction");
  field("sentence", sentence, "longer sentences are read in parts of at most so many words");
  field("dropout", dropout, "share of the sentences' vectors and of the document's dropped in training");
  visit_attention(attention, field);
}

Han::Han(const Scope& scope, const HanConfig& config)
    : config_(checked(config)),
      words_("han", scope / "words", config, config.text),
      word_encoder_(scope / "word" / "encoder", config.text.embedding, config.hidden),
      sentence_encoder_(scope / "sentence" / "encoder", 2 * config.hidden, config.hidden),
      word_pooling_("han", scope / "word" / "attention", config.attention, 2 * config.hidden),
      sentence_pooling_("han", scope / "sentence" / "attention", config.attention, 2 * config.hidden),
      labels_(scope / "labels", 2 * config.hidden, config.outputs) {}

Chosen Han::forward(const std::vector<Source>& inputs, const ForwardOptions& options) const {
  const Source& document = inputs.front();
  const SentenceRows all = sentence_rows(document, config_.sentence);
  const Index batch = document.batch(), width = 2 * config_.hidden, sentences = all.words.size(0);

  const Var gates =
      options.gates ? reshape(numbers_at(options.gates, all.from), Shape{sentences, 1, all.words.size(1)}) : Var();
  const Var words = word_encoder_(words_(all.words, options.random), {}, {all.lengths}).outputs;
  const Pooling::Result of_words = word_pooling_(words, all.lengths, gates);
  const Var vectors = dropped(reshape(of_words.read, Shape{sentences, width}), config_.dropout, options.random);
  const Var documents =
      reshape(gather(vectors, 0, all.rows.reshape(Shape{all.rows.size()})), Shape{batch, all.rows.size(1), width});
  const Var read = sentence_encoder_(documents, {}, {all.counts}).outputs;
  const Pooling::Result of_sentences = sentence_pooling_(read, all.counts);
  const Var document_vectors =
      dropped(reshape(of_sentences.read, Shape{batch, width}), config_.dropout, options.random);

  Chosen chosen{labels_(document_vectors), {}, {}};
  if (!options.alignment && !options.trace) return chosen;
  const Var joint =
      numbers_at(of_sentences.weights, all.sentence) * numbers_at(of_words.weights, all.word) * Var(all.inside);
  const Index longest = document.longest();
  if (options.alignment) chosen.alignment = reshape(joint, Shape{batch, 1, longest});
  if (options.trace)
    options.trace->push_back({"label.document", joint.value().contiguous().reshape(Shape{batch, 1, 1, longest})});
  return chosen;
}

namespace {

std::unique_ptr<Config> han_config(const std::string& preset) {
  auto config = std::make_unique<HanConfig>();
  if (preset == "small") config->text.embedding = 100, config->text.embedding_dropout = 0.2, config->dropout = 0.3;
  return config;
}

const RegisterSystem han{{.name = "han",
                          .summary = "words make sentences, sentences a document, with attention at both levels",
                          .paper = "Yang et al. 2016",
                          .job = "classification",
                          .presets = {"paper", "small"},
                          .config = han_config,
                          .make = make_model<Han, HanConfig>,
                          .training = {},
                          .later = {"expected"}}};

}  // namespace
}  // namespace heed
