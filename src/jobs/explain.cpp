#include "heed/jobs/explain.h"

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

using Words = std::vector<std::int32_t>;

// The characters of a place in a text.
std::string characters_at(std::string_view text, TextPlace place) {
  const auto byte_of = [text](Index character) {
    std::size_t byte = 0;
    for (; byte < text.size(); ++byte)
      if ((static_cast<unsigned char>(text[byte]) & 0xc0U) != 0x80 && character-- == 0) break;
    return byte;
  };
  const std::size_t begin = byte_of(place.begin);
  return std::string(text.substr(begin, byte_of(place.end) - begin));
}

// A text as tokens with their places, the end behind them.
TraceText trace_text(const Vocabulary& vocabulary, std::string text, std::span<const std::int32_t> ids,
                     std::span<const TextPlace> places) {
  TraceText result;
  const std::vector<Index> words = vocabulary.word_of(ids);
  std::vector<std::string> pieces;  // of each word
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string piece = vocabulary.piece(ids[i]);
    result.tokens.push_back({piece, places[i].begin, places[i].end, words[i]});
    if (words[i] == static_cast<Index>(result.words.size())) {
      result.words.push_back({"", places[i].begin, places[i].end});
      pieces.emplace_back();
    }
    result.words.back().end = places[i].end;
    pieces.back() += piece;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    TraceWord& word = result.words[i];
    word.text = word.begin < word.end ? characters_at(text, {word.begin, word.end}) : pieces[i];
  }
  const auto end = static_cast<Index>(count_characters(text));
  result.tokens.push_back({vocabulary.piece(kEnd), end, end, -1});
  result.text = std::move(text);
  return result;
}

void check_text(const std::string& text) {
  require(valid_utf8(text), "[explain] the text is not valid UTF-8 at byte {}", valid_utf8_prefix(text));
}

Words encode_at_most(const Vocabulary& vocabulary, const std::string& text, Index longest) {
  check_text(text);
  Words ids = vocabulary.encode(text);
  require(static_cast<Index>(ids.size()) <= longest, "[explain] the text has {} pieces; {} are allowed", ids.size(),
          longest);
  return ids;
}

// The number in "decoder.layer3.source"; 1 where there is none.
Index layer_of(std::string_view name) {
  constexpr std::string_view kLayer = ".layer";
  Index layer = 1;
  if (const std::size_t at = name.find(kLayer); at != std::string_view::npos)
    std::from_chars(name.data() + at + kLayer.size(), name.data() + name.size(), layer);
  return layer;
}

// One sentence's part of a batch's attention: [heads, rows, columns] of [batch, heads, n, m].
TraceAttention attention_of(const AttentionOfBatch& traced, Index sentence, Index target, Index source) {
  TraceAttention result{.name = traced.name, .layer = layer_of(traced.name), .weights = {}};
  const bool own = traced.name.ends_with(".self"), encoder = traced.name.starts_with("encoder");
  result.rows = encoder ? "source" : "target";
  result.columns = own ? result.rows : "source";
  const Index rows = encoder ? source : target, columns = own ? rows : source, heads = traced.weights.size(1);
  const Tensor weights = traced.weights.slice(0, sentence, sentence + 1).slice(2, 0, rows).slice(3, 0, columns);
  result.weights = weights.contiguous().reshape(Shape{heads, rows, columns});
  if (own && !encoder) {
    // The decoder reads the begin and then each token but the last: column j becomes that of token j.
    Tensor moved(result.weights.shape(), Real{0});
    for (Index row = 0; row < heads * rows; ++row)
      std::copy_n(result.weights.data() + row * columns + 1, columns - 1, moved.data() + row * columns);
    result.weights = moved;
  }
  return result;
}

// A sentence alone is the work of one thread, whose ops may use the others.
int threads_for(std::size_t sentences) { return sentences > 1 ? thread_count() : 1; }

// The steps of one source's search, as they are shown.
using Steps = std::vector<std::vector<SearchStep::Alive>>;

// Marks the hypotheses that became `words`.
void mark_chosen(const Steps& steps, const Words& words, std::vector<std::vector<TraceHypothesis>>& beam) {
  const auto at = [](const auto& list, Index place) -> auto& { return list[static_cast<std::size_t>(place)]; };
  if (steps.size() <= words.size()) return;
  const auto ends = static_cast<Index>(words.size());
  for (Index last = 0; last < static_cast<Index>(at(steps, ends).size()); ++last) {
    if (!at(at(steps, ends), last).ended) continue;
    std::vector<Index> places(words.size() + 1, last);
    bool same = true;
    for (Index t = ends; t-- > 0 && same;) {
      places[static_cast<std::size_t>(t)] = at(at(steps, t + 1), at(places, t + 1)).from;
      same = at(at(steps, t), at(places, t)).word == at(words, t);
    }
    if (!same) continue;
    for (Index t = 0; t <= ends; ++t)
      beam[static_cast<std::size_t>(t)][static_cast<std::size_t>(at(places, t))].chosen = true;
    return;
  }
}

std::vector<std::vector<TraceHypothesis>> beam_of(const Steps& steps, const Words& words, const Vocabulary& target) {
  std::vector<std::vector<TraceHypothesis>> beam;
  for (const auto& step : steps) {
    beam.emplace_back();
    for (const SearchStep::Alive& alive : step)
      beam.back().push_back(
          {target.piece(alive.word), alive.from, alive.log_probability, alive.score, alive.ended, false});
  }
  mark_chosen(steps, words, beam);
  return beam;
}

// Tells of each token of a greedy search.
class TokenTeller {
 public:
  TokenTeller(const Vocabulary& target, const ExplainOptions& options, std::size_t sentences)
      : target_(target), options_(options), words_(sentences), so_far_(sentences) {}

  void tell(const SearchStep& step, Index sentence) {
    const auto source = static_cast<std::size_t>(step.source);
    const SearchStep::Alive& alive = step.hypotheses.front();
    Words& words = words_[source];
    if (!alive.ended) words.push_back(alive.word);
    ExplainedToken told{.sentence = sentence, .step = step.step, .token = {}, .text = target_.decode(words)};
    const auto length = static_cast<Index>(count_characters(told.text));
    if (alive.ended)
      told.token = {target_.piece(kEnd), length, length, -1};
    else
      told.token = {target_.piece(alive.word), target_.decoded_places(words).back().begin,
                    target_.decoded_places(words).back().end, target_.word_of(words).back()};
    told.log_probability = alive.log_probability - so_far_[source];
    told.weights = alive.weights;
    so_far_[source] = alive.log_probability;
    options_.on_token(told);
  }

 private:
  const Vocabulary& target_;
  const ExplainOptions& options_;
  std::vector<Words> words_;
  std::vector<double> so_far_;  // log-probability of the tokens that were told
};

}  // namespace

struct Explainer::Sentence {
  std::string text;
  Words source, target;
};

Explainer::Explainer(std::shared_ptr<const TranslationBundle> bundle, std::string name)
    : bundle_(std::move(bundle)), name_(std::move(name)) {
  require(bundle_ && bundle_->model, "[explain] there is no model {}", name_);
}

TraceText Explainer::read_source(const std::string& text) const {
  check_text(text);
  return trace_text(*bundle_->source, text, bundle_->source->encode(text), bundle_->source->places(text));
}

Explainer::Sentence Explainer::encoded(const std::string& source, Index longest) const {
  return {source, encode_at_most(*bundle_->source, source, longest), {}};
}

Trace Explainer::begun(const Sentence& sentence) const {
  Trace trace = pair_trace(
      trace_text(*bundle_->source, sentence.text, sentence.source, bundle_->source->places(sentence.text)), {});
  trace.model = name_;
  trace.system = bundle_->name;
  return trace;
}

void Explainer::read_forced(std::span<const Sentence> sentences, std::span<Trace> traces, const ExplainOptions& options,
                            Target target) const {
  const bool given = target == Target::given;
  if (!given && !options.attentions) return;
  if (const auto names = bundle_->model->attentions(); !given && names.size() <= 1) {
    // What the search saw is all there is to see.
    for (Trace& trace : traces) {
      if (names.empty() || !trace.alignment) continue;
      const Index n = trace.alignment.size(0), m = trace.alignment.size(1);
      const Tensor weights = trace.alignment.reshape(Shape{1, n, m});
      trace.attentions.push_back({.name = names.front().name, .layer = names.front().layer, .weights = weights});
    }
    return;
  }
  std::vector<Words> sources, targets;
  std::vector<std::size_t> lengths;
  for (const Sentence& sentence : sentences) {
    sources.push_back(sentence.source);
    targets.push_back(sentence.target);
    lengths.push_back(std::max(sentence.source.size(), sentence.target.size()) + 1);
  }
  ThreadPool threads(threads_for(sentences.size()));
  const auto batches = batches_for(threads, lengths, options.search.batch_sentences, options.search.batch_words);
  for_each_batch(threads, batches.size(), [&](std::size_t number) {
    const NoGradient off;
    const std::vector<std::size_t>& chosen = batches[number];
    const ForcedTargets forced = forced_targets(targets, chosen);
    std::vector<AttentionOfBatch> traced;
    const TeacherForced read =
        bundle_->model->forward(with_end(sources, chosen), forced.previous,
                                {.alignment = given, .words = given, .trace = options.attentions ? &traced : nullptr});
    const Tensor words = given ? log_probabilities_of(read.words.logits().value()).contiguous() : Tensor();
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      Trace& trace = traces[chosen[row]];
      const Index sentence = static_cast<Index>(row), n = static_cast<Index>(targets[chosen[row]].size()) + 1,
                  m = static_cast<Index>(sources[chosen[row]].size()) + 1;
      for (const AttentionOfBatch& each : traced) trace.attentions.push_back(attention_of(each, sentence, n, m));
      if (!given) continue;
      const Index first = sentence * forced.expected.longest(), vocabulary = words.size(-1);
      for (Index t = first; t < first + n; ++t)
        trace.log_probabilities.push_back(
            static_cast<double>(words.data()[t * vocabulary + forced.expected.words.data()[t]]));
      if (!read.alignment) continue;
      const Tensor own = read.alignment.value().slice(0, sentence, sentence + 1).slice(1, 0, n).slice(2, 0, m);
      trace.alignment = own.contiguous().reshape(Shape{n, m});
    }
  });
}

std::vector<Trace> Explainer::explain_given(std::span<const std::string> sources, std::span<const std::string> targets,
                                            const ExplainOptions& options) const {
  require(sources.size() == targets.size(), "[explain] {} targets for {} sources", targets.size(), sources.size());
  std::vector<Sentence> sentences;
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    sentences.push_back(encoded(sources[i], options.longest));
    Words& target = sentences.back().target = encode_at_most(*bundle_->target, targets[i], options.longest);
    traces.push_back(begun(sentences.back()));
    traces.back().axis("target").text =
        trace_text(*bundle_->target, targets[i], target, bundle_->target->places(targets[i]));
  }
  read_forced(sentences, traces, options, Target::given);
  return traces;
}

std::vector<Trace> Explainer::explain(std::span<const std::string> sources, const ExplainOptions& options) const {
  require(!options.on_token || options.search.method == SearchMethod::greedy,
          "[explain] tokens are told as they come by greedy search only");
  const SearchOptions& asked = options.search.options;
  require(asked.prefixes.empty() || asked.prefixes.size() == sources.size(), "[explain] {} prefixes for {} sources",
          asked.prefixes.size(), sources.size());
  BatchedSearch search = options.search;
  search.options.prefixes.clear();
  search.options.sentences.clear();
  std::vector<Trace> traces(sources.size()), searched;
  std::vector<Sentence> sentences;  // that have words
  std::vector<Words> ids;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Sentence sentence = encoded(sources[i], options.longest);
    if (sentence.source.empty()) {
      traces[i] = explain_given(sources.subspan(i, 1), std::vector<std::string>{""}, options).front();
      continue;
    }
    if (!asked.prefixes.empty()) search.options.prefixes.push_back(asked.prefixes[i]);
    search.options.sentences.push_back(asked.sentences.empty() ? i : asked.sentences.at(i));
    searched.push_back(begun(sentence));
    ids.push_back(sentence.source);
    sentences.push_back(std::move(sentence));
    places.push_back(i);
  }

  std::vector<Steps> steps(options.beam ? sentences.size() : 0);
  TokenTeller teller(*bundle_->target, options, sentences.size());
  if (options.beam || options.on_token)
    search.options.observer = [&](const SearchStep& step) {
      if (options.beam) steps[static_cast<std::size_t>(step.source)].push_back(step.hypotheses);
      if (options.on_token) teller.tell(step, static_cast<Index>(places[static_cast<std::size_t>(step.source)]));
    };
  ThreadPool threads(options.on_token ? 1 : threads_for(sentences.size()));
  const Writer* const models[] = {bundle_->model.get()};
  const Hypotheses found = search_batches(models, ids, search, threads);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Hypothesis& best = found[i].front();
    Trace& trace = searched[i];
    sentences[i].target = best.words;
    trace.axis("target").text = trace_text(*bundle_->target, bundle_->target->decode(best.words), best.words,
                                           bundle_->target->decoded_places(best.words));
    trace.alignment = best.weights;
    trace.log_probabilities = best.log_probabilities;
    if (options.beam) trace.beam = beam_of(steps[i], best.words, *bundle_->target);
  }
  read_forced(sentences, searched, options, Target::searched);
  for (std::size_t i = 0; i < places.size(); ++i) traces[places[i]] = std::move(searched[i]);
  return traces;
}

}  // namespace heed
