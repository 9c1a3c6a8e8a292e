#include <algorithm>
#include <cmath>

#include "heed/autograd/ops/softmax.h"
#include "heed/base/spelling.h"
#include "heed/base/utf8.h"
#include "heed/data/sound_preview.h"
#include "heed/explain/faithfulness.h"
#include "heed/jobs/runner.h"

namespace heed {
namespace {

using Words = std::vector<std::int32_t>;

constexpr std::size_t kMostChoices = 20;  // of the words of a text, the most probable are enough

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
    word.text = word.begin < word.end ? std::string(characters_between(text, word.begin, word.end)) : pieces[i];
  }
  const auto end = static_cast<Index>(count_characters(text));
  result.tokens.push_back({vocabulary.piece(kEnd), end, end, -1});
  result.text = std::move(text);
  return result;
}

// One sample's part of a batch's attention: [heads, rows, columns] of [batch, heads, n, m].
Tensor part_of(const Tensor& weights, Index sample, Index rows, Index columns) {
  const Tensor part = weights.slice(0, sample, sample + 1).slice(2, 0, rows).slice(3, 0, columns);
  return part.contiguous().reshape(Shape{weights.size(1), rows, columns});
}

// A decoder reads the begin and then each token but the last: column j becomes that of token j.
Tensor without_begin(const Tensor& weights) {
  const Index heads = weights.size(0), rows = weights.size(1), columns = weights.size(2);
  Tensor moved(weights.shape(), Real{0});
  for (Index row = 0; row < heads * rows; ++row)
    std::copy_n(weights.data() + row * columns + 1, columns - 1, moved.data() + row * columns);
  return moved;
}

// Of each token of the output the share of its probability that was copied, (1 - p) Σ_{j: x_j = y} a_j / P(y).
std::vector<double> copied_shares(const Trace& trace, const EncodedSample& sample) {
  const EncodedInput& input = sample.inputs.front();
  const Words& source = written_words(input);
  const auto n = trace.generation_probabilities.size(), m = source.size();
  std::vector<double> shares;
  for (std::size_t t = 0; t < n; ++t) {
    const std::int32_t word = t < sample.output.size() ? sample.output[t] : kEnd;
    const Real* const weights = trace.alignment.data() + t * (m + 1);
    double looked = word == kEnd ? static_cast<double>(weights[m]) : 0;
    for (std::size_t j = 0; j < m; ++j)
      if (source[j] == word) looked += static_cast<double>(weights[j]);
    const double copied = (1 - trace.generation_probabilities[t]) * looked;
    shares.push_back(std::min(1.0, copied / std::exp(trace.log_probabilities[t])));
  }
  return shares;
}

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

std::vector<std::vector<TraceHypothesis>> beam_of(const Steps& steps, const Words& words, const Vocabulary& output) {
  std::vector<std::vector<TraceHypothesis>> beam;
  for (const auto& step : steps) {
    beam.emplace_back();
    for (const SearchStep::Alive& alive : step)
      beam.back().push_back(
          {output.piece(alive.word), alive.from, alive.log_probability, alive.score, alive.ended, false});
  }
  mark_chosen(steps, words, beam);
  return beam;
}

void check_trusted_length(const Trace& trace, Index longest) {
  for (const TraceAxis& axis : trace.axes)
    require(axis.size() <= longest, "[trust] {} has {} pieces; trust is measured of at most {}", axis.name, axis.size(),
            longest);
}

bool wants(const ExplainOptions& options, const AttentionShape& shape) {
  const std::vector<std::string>& names = options.attention_names;
  return names.empty() || std::find(names.begin(), names.end(), shape.name) != names.end();
}

void check_names(std::span<const std::string> names, std::span<const AttentionShape> shapes) {
  std::vector<std::string> known;
  for (const AttentionShape& shape : shapes) known.push_back(shape.name);
  for (const std::string& name : names)
    require(std::find(known.begin(), known.end(), name) != known.end(), "[explain] the model has no attention {}{}",
            name, did_you_mean(name, known));
}

void check_weights(Index weights, Index most) {
  require(weights <= most,
          "[explain] the attentions that were asked for have {} weights, more than {}: ask for fewer of them by name",
          weights, most);
}

// Tells of each token of a greedy search. Several threads may tell, of different samples.
class TokenTeller {
 public:
  TokenTeller(const RunOptions& options, std::size_t samples) : options_(options), words_(samples), so_far_(samples) {}

  void tell(const SearchStep& step, Index sample, const Vocabulary& output) {
    const auto source = static_cast<std::size_t>(step.source);
    const SearchStep::Alive& alive = step.hypotheses.front();
    Words& words = words_[source];
    if (!alive.ended) words.push_back(alive.word);
    WrittenToken told{.sample = sample, .step = step.step, .token = {}, .text = output.decode(words)};
    const auto length = static_cast<Index>(count_characters(told.text));
    if (alive.ended) {
      told.token = {output.piece(kEnd), length, length, -1};
    } else {
      const TextPlace place = output.decoded_places(words).back();
      told.token = {output.piece(alive.word), place.begin, place.end, output.word_of(words).back()};
    }
    told.log_probability = alive.log_probability - so_far_[source];
    told.weights = alive.weights;
    so_far_[source] = alive.log_probability;
    options_.on_token(told);
  }

 private:
  const RunOptions& options_;
  std::vector<Words> words_;
  std::vector<double> so_far_;  // log-probability of the tokens that were told
};

}  // namespace

UnitTimes Runner::times_of(const Hypothesis& hypothesis, const FrameTimes& frames) const {
  const Vocabulary& output = *bundles_.front()->codes.output;
  const Words& words = hypothesis.words;
  UnitTimes times = unit_times(trace_text(output, output.decode(words), words, output.decoded_places(words)),
                               hypothesis.weights, frames, hypothesis.log_probabilities);
  if (!hypothesis.finished) times.doubts.emplace_back("it came to no end and was cut off");
  return times;
}

struct Runner::Explanation {
  EncodedSample sample;
  std::vector<Choice> choices;  // where a label or a choice is given
  const Sample* prepared = nullptr;
  std::uint64_t number = 0;  // among the samples of the call
  const std::string* prefix = nullptr;
  Trace trace;
};

TraceAxis Runner::read_input(std::size_t input, const Value& value, bool playable, Index longest) const {
  const JobSide& side = job().inputs[input];
  TraceAxis axis{.name = side.name, .kind = side.kind};
  if (is_text(side.kind)) {
    require(valid_utf8(value.text), "[explain] the text is not valid UTF-8 at byte {}", valid_utf8_prefix(value.text));
    const Vocabulary& vocabulary = *bundles_.front()->codes.inputs[input];
    const std::vector<TextPlace> places = vocabulary.places(value.text);
    EncodedInput read{.words = vocabulary.encode(value.text)};
    if (side.kind == Kind::document) read.ends = sentence_ends_in(value.text, places);
    cut_input(read, longest);
    axis.text = trace_text(vocabulary, value.text, read.words, places);
    axis.text.sentence_ends.assign(read.ends.begin(), read.ends.end());
    return axis;
  }
  const Featured featured = bundles_.front()->sense_input(input, value);
  axis.rows = side.kind == Kind::image ? featured.rows : featured.features.size(0);
  axis.columns = side.kind == Kind::image ? featured.columns : 1;
  axis.frames = featured.frames;
  axis.preview = featured.preview;
  if (side.kind == Kind::sound) {
    const Value sound = decoded(side.kind, value);
    axis.preview = sound_preview(sound);
    axis.waveform = sound_waveform(sound, axis.frames.begin(0), axis.frames.begin(axis.rows));
    if (playable) axis.playable = playable_sound(sound);
  }
  return axis;
}

std::string Runner::axis_name(int axis) const {
  return axis == kOutput ? job().output.name : job().inputs[static_cast<std::size_t>(axis)].name;
}

std::vector<TraceAttention> Runner::attentions() const {
  std::vector<TraceAttention> list;
  for (const AttentionShape& shape : bundles_.front()->model->attentions())
    list.push_back(
        {shape.name, shape.layer, axis_name(shape.rows), axis_name(shape.columns), Tensor(Shape{shape.heads, 0, 0})});
  return list;
}

std::vector<Trace> Runner::explain(std::span<const Sample> given_samples, const ExplainOptions& options) {
  require(!options.run.on_token || options.run.search.method == SearchMethod::greedy,
          "[explain] tokens are told as they come by greedy search only");
  require(options.run.prefixes.empty() || options.run.prefixes.size() == given_samples.size(),
          "[explain] {} prefixes for {} inputs", options.run.prefixes.size(), given_samples.size());
  const Bundle& bundle = *bundles_.front();
  check_names(options.attention_names, bundle.model->attentions());
  const Index first = see(given_samples.size());
  std::vector<Sample> samples;
  for (const Sample& sample : given_samples)
    samples.push_back(prepared(sample, first + static_cast<Index>(samples.size()) + 1));
  std::vector<Explanation> list(samples.size());
  std::vector<std::size_t> searched, read;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Explanation& each = list[i];
    each.sample =
        encode(samples[i], options.run.limits, first + static_cast<Index>(i) + 1, BadText::is_an_error, each.choices);
    each.number = i;
    each.prepared = &samples[i];
    if (!options.run.prefixes.empty()) each.prefix = &options.run.prefixes[i];
    Trace& trace = each.trace;
    trace.model = name_, trace.system = bundle.system->name, trace.job = job().name;
    trace.unlinked_at_end = bundle.unlinked_at_end;
    for (std::size_t input = 0; input < samples[i].inputs.size(); ++input)
      trace.axes.push_back(
          read_input(input, samples[i].inputs[input], options.playable, each.sample.inputs[input].length()));
    trace.axes.push_back({.name = job().output.name, .kind = job().output.kind});
    const bool empty = each.sample.inputs.front().length() == 0;
    const bool given = !samples[i].outputs.empty();
    if (bundle.writer && (given || empty)) {
      const std::string text = given ? samples[i].outputs.front() : "";
      trace.axes.back().text =
          trace_text(bundle.output_words(each.sample), text, each.sample.output, bundle.codes.output->places(text));
      read.push_back(i);
    } else {
      searched.push_back(i);
    }
    if (options.trust) check_trusted_length(trace, options.longest_trusted);  // before anything is searched
  }
  const auto with = [&list](const std::vector<std::size_t>& places, const auto& work) {
    std::vector<Explanation> some;
    some.reserve(places.size());
    for (const std::size_t i : places) some.push_back(std::move(list[i]));
    if (!some.empty()) work(std::span<Explanation>(some));
    for (std::size_t k = 0; k < places.size(); ++k) list[places[k]] = std::move(some[k]);
  };
  if (bundle.chooser) {
    with(searched, [&](std::span<Explanation> some) { choose_traces(some, options); });
  } else {
    with(searched, [&](std::span<Explanation> some) { search_traces(some, options); });
    with(read, [&](std::span<Explanation> some) { read_traces(some, options); });
  }
  if (options.trust)
    for (Explanation& each : list) measure_trust_of(each, options);
  std::vector<Trace> traces;
  traces.reserve(list.size());
  for (Explanation& each : list) traces.push_back(std::move(each.trace));
  return traces;
}

void Runner::measure_trust_of(Explanation& explanation, const ExplainOptions& options) const {
  const Bundle& bundle = *bundles_.front();
  Trace& trace = explanation.trace;
  check_trusted_length(trace, options.longest_trusted);
  std::vector<std::int32_t> output = explanation.sample.output;
  output.push_back(kEnd);
  const std::unique_ptr<Evidence> evidence =
      bundle.writer
          ? writer_evidence(*bundle.writer, explanation.sample.inputs.front(), std::move(output), options.run.on_step)
          : chooser_evidence(*bundle.chooser, explanation.sample, options.run.on_step);
  trace.trust = {measure_trust(*evidence, trace)};
}

void Runner::search_traces(std::span<Explanation> list, const ExplainOptions& options) const {
  const Bundle& bundle = *bundles_.front();
  BatchedSearch search = options.run.search;
  search.options.prefixes.clear();
  search.options.sentences.clear();
  std::vector<EncodedSample> samples;
  for (const Explanation& each : list) {
    samples.push_back(each.sample);
    search.options.sentences.push_back(each.number);
    if (each.prefix) search.options.prefixes.push_back(bundle.output_words(each.sample).encode(*each.prefix));
  }
  search.options.allows = constraint(samples, options.run.outputs);
  search.extractive = bundle.extractive;
  std::vector<Steps> steps(options.beam ? list.size() : 0);
  TokenTeller teller(options.run, list.size());
  search.options.observer = [&](const SearchStep& step) {
    const auto source = static_cast<std::size_t>(step.source);
    if (options.run.on_step) options.run.on_step();
    if (options.beam) steps[source].push_back(step.hypotheses);
    if (options.run.on_token)
      teller.tell(step, static_cast<Index>(list[source].number), bundle.output_words(samples[source]));
  };
  const Writer* const writers[] = {bundle.writer};
  const Hypotheses found = search_batches(writers, samples, search, threads_);
  const std::vector<AttentionShape> shapes = bundle.writer->attentions();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Hypothesis& best = found[i].front();
    const Vocabulary& output = bundle.output_words(samples[i]);
    Trace& trace = list[i].trace;
    list[i].sample.output = best.words;
    trace.axes.back().text =
        trace_text(output, output.decode(best.words), best.words, output.decoded_places(best.words));
    trace.alignment = bundle.writer->alignment_of_words(best.weights);
    if (trace.alignment) trace.rows = axis_name(kOutput), trace.columns = axis_name(0);
    trace.log_probabilities = best.log_probabilities;
    trace.generation_probabilities = best.generates;
    trace.copied = copied_shares(trace, list[i].sample);
    if (options.beam) trace.beam = beam_of(steps[i], best.words, output);
    // Where there is but one attention, what the search saw is all there is to see.
    if (options.attentions && shapes.size() == 1 && trace.alignment && wants(options, shapes.front()))
      trace.attentions.push_back({shapes.front().name, shapes.front().layer, trace.rows, trace.columns,
                                  best.weights.reshape(Shape{1, best.weights.size(0), best.weights.size(1)})});
  }
  if (!options.attentions || shapes.size() <= 1) return;
  read_traces(list, options);
}

// What a teacher-forced pass tells: attentions if asked for, and alignment and probabilities where no search did.
void Runner::read_traces(std::span<Explanation> list, const ExplainOptions& options) const {
  const Bundle& bundle = *bundles_.front();
  const std::vector<AttentionShape> shapes = bundle.writer->attentions();
  std::vector<EncodedSample> samples;
  std::vector<std::size_t> lengths;
  for (const Explanation& each : list) {
    samples.push_back(each.sample);
    lengths.push_back(batch_length(each.sample));
  }
  if (options.attentions)
    for (const Explanation& each : list) {
      Index weights = 0;
      const auto size_of = [&](int axis) {  // with the end of a text
        return axis == kOutput ? each.trace.output().size() : each.trace.axes[static_cast<std::size_t>(axis)].size();
      };
      for (const AttentionShape& shape : shapes)
        if (wants(options, shape)) weights += shape.heads * size_of(shape.rows) * size_of(shape.columns);
      check_weights(weights, options.most_weights);
    }
  const bool given = list.front().trace.log_probabilities.empty();
  const auto batches = batches_for(threads_, lengths, options.run.search.batch);
  for_each_batch(threads_, batches.size(), [&](std::size_t number) {
    const NoGradient off;
    if (options.run.on_step) options.run.on_step();
    const std::vector<std::size_t>& chosen = batches[number];
    const SampleBatch batch = chosen_batch(samples, chosen, false);
    std::vector<AttentionOfBatch> seen;
    const TeacherForced forced =
        bundle.writer->forward(batch.inputs.front(), batch.previous,
                               {.alignment = given, .words = given, .trace = options.attentions ? &seen : nullptr});
    const Tensor words = given ? log_probabilities_of(forced.words.logits().value()).contiguous() : Tensor();
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      Trace& trace = list[chosen[row]].trace;
      const auto place = static_cast<Index>(row);
      const Index n = trace.output().size(), m = batch.inputs.front().lengths.data()[row];
      const auto size_of = [&](int axis) { return axis == kOutput ? n : m; };
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const AttentionShape& shape = shapes[i];
        if (!wants(options, shape)) continue;
        Tensor weights = part_of(seen[i].weights, place, size_of(shape.rows), size_of(shape.columns));
        if (shape.rows == kOutput && shape.columns == kOutput) weights = without_begin(weights);
        trace.attentions.push_back(
            {shape.name, shape.layer, axis_name(shape.rows), axis_name(shape.columns), std::move(weights)});
      }
      if (!given) continue;
      const Index first = place * batch.previous.longest(), vocabulary = words.size(-1);
      for (Index t = first; t < first + n; ++t)
        trace.log_probabilities.push_back(static_cast<double>(words.data()[t * vocabulary + batch.expected.data()[t]]));
      if (!forced.alignment) continue;
      const Tensor own = forced.alignment.value().slice(0, place, place + 1).slice(1, 0, n).slice(2, 0, m);
      trace.alignment = bundle.writer->alignment_of_words(own.contiguous().reshape(Shape{n, m}));
      trace.rows = axis_name(kOutput), trace.columns = axis_name(0);
      if (!forced.words.generates()) continue;
      const Tensor generates = forced.words.generates().value().contiguous();
      trace.generation_probabilities.assign(generates.data() + first, generates.data() + first + n);
      trace.copied = copied_shares(trace, samples[chosen[row]]);
    }
  });
}

void Runner::choose_traces(std::span<Explanation> list, const ExplainOptions& options) const {
  const Bundle& bundle = *bundles_.front();
  const std::vector<AttentionShape> shapes = bundle.chooser->attentions();
  const auto [rows, columns] = bundle.chooser->alignment_axes();
  // Each by itself: what a sample's inputs are long differs, and a batch would be padded.
  for_each_batch(threads_, list.size(), [&, rows = rows, columns = columns](std::size_t i) {
    const NoGradient off;
    if (options.run.on_step) options.run.on_step();
    Explanation& each = list[i];
    for (std::size_t k = 0; k < each.sample.inputs.size(); ++k)
      require(each.sample.inputs[k].length() > 0, "[explain] there is nothing to choose from: {} is empty",
              job().inputs[k].name);
    Trace& trace = each.trace;
    const SampleBatch batch = batch_of(std::span(&each.sample, 1), true);
    std::vector<AttentionOfBatch> seen;
    const Chosen chosen =
        bundle.chooser->forward(batch.inputs, {.alignment = true, .trace = options.attentions ? &seen : nullptr});
    const Tensor own_probabilities = softmax(chosen.scores).value().contiguous();
    const std::vector<double> probabilities =
        reranked(*each.prepared, each.choices,
                 {own_probabilities.data(), own_probabilities.data() + own_probabilities.size()}, options.run);
    if (each.sample.output.empty())
      each.sample.output = {static_cast<std::int32_t>(std::max_element(probabilities.begin(), probabilities.end()) -
                                                      probabilities.begin())};
    const auto number = static_cast<std::size_t>(each.sample.output.front());
    const std::string label = each.choices[number].text;
    for (std::size_t k = 0; k < probabilities.size(); ++k)
      trace.choices.push_back({each.choices[k].text, probabilities[k]});
    std::stable_sort(trace.choices.begin(), trace.choices.end(),
                     [](const TraceChoice& a, const TraceChoice& b) { return a.probability > b.probability; });
    if (job().gives_choice() && trace.choices.size() > kMostChoices) trace.choices.resize(kMostChoices);
    const auto length = static_cast<Index>(count_characters(label));
    trace.axes.back().text = {label, {{label, 0, length, 0}}, {{label, 0, length}}};
    Index count = 0;
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (wants(options, shapes[k])) count += seen[k].weights.size();
    check_weights(count, options.most_weights);
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (!wants(options, shapes[k])) continue;
      const Tensor& weights = seen[k].weights;
      trace.attentions.push_back({shapes[k].name, shapes[k].layer, axis_name(shapes[k].rows),
                                  axis_name(shapes[k].columns), part_of(weights, 0, weights.size(2), weights.size(3))});
    }
    if (!chosen.alignment) return;
    const Tensor own = chosen.alignment.value().contiguous();
    trace.alignment = own.reshape(Shape{own.size(1), own.size(2)});
    trace.rows = axis_name(rows), trace.columns = axis_name(columns);
  });
}

}  // namespace heed
