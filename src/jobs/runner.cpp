#include "heed/jobs/runner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/autograd/ops/softmax.h"
#include "heed/base/threads.h"
#include "heed/base/utf8.h"
#include "heed/base/white_space.h"
#include "heed/data/blank.h"
#include "heed/data/text_file.h"
#include "heed/nn/word_screen.h"

namespace heed {
namespace {

// The bytes of everything that turns samples into numbers: models that decide together must have the same.
std::vector<std::string> code_bytes(const Bundle& bundle) {
  std::vector<std::string> bytes = bundle.codes.labels;
  for (const auto& vocabulary : bundle.codes.inputs) bytes.push_back(vocabulary ? vocabulary->serialized() : "");
  if (bundle.codes.output) bytes.push_back(bundle.codes.output->serialized());
  return bytes;
}

constexpr Index kUsualLongest = 500;

struct TextSize {
  Index words = 0, bytes = 0;
};
TextSize text_size(const Vocabulary& vocabulary, std::span<const std::int32_t> pieces) {
  const std::string text = vocabulary.decode(pieces);
  return {static_cast<Index>(words_of_line(text).size()), static_cast<Index>(text.size())};
}

double add_logarithms(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

}  // namespace

Runner::Bundles Runner::load_all(const std::vector<std::filesystem::path>& folders, FolderWeights weights,
                                 Numbers numbers, const RunSettings& settings) {
  require(!folders.empty(), "[run] there is no model");
  Bundles bundles;
  for (const std::filesystem::path& folder : folders) {
    bundles.push_back(std::make_shared<const Bundle>(load_bundle(ModelFolder(folder), weights, 1, numbers, settings)));
    require(bundles.back()->job == bundles.front()->job, "{}: it is for {}, but {} is for {}", folder.string(),
            bundles.back()->job->name, folders.front().string(), bundles.front()->job->name);
    require(code_bytes(*bundles.back()) == code_bytes(*bundles.front()),
            "{}: its vocabularies or labels are not those of {}; models that decide together share them",
            folder.string(), folders.front().string());
  }
  return bundles;
}

Runner::Runner(const std::vector<std::filesystem::path>& folders, int threads, Warn warn, FolderWeights weights,
               Numbers numbers, const RunSettings& settings)
    // Braces keep the order: no folder is named before it is known that there is one.
    : Runner{load_all(folders, weights, numbers, settings), name_of_folder(folders.front()), threads, std::move(warn)} {
}

Runner::Runner(std::shared_ptr<const Bundle> bundle, std::string name, int threads, Warn warn)
    : Runner(Bundles{std::move(bundle)}, std::move(name), threads, std::move(warn)) {}

Runner::Runner(Bundles bundles, std::string name, int threads, Warn warn)
    : bundles_(std::move(bundles)),
      name_(std::move(name)),
      screen_(std::make_shared<WordScreen>()),
      threads_(threads > 0 ? threads : thread_count()),
      warn_(std::move(warn)) {
  for (const auto& bundle : bundles_) {
    if (bundle->writer) writers_.push_back(bundle->writer);
    if (bundle->chooser) choosers_.push_back(bundle->chooser);
  }
}

Sample Runner::prepared(Sample sample, Index number) const {
  for (std::size_t i = 0; i < std::min(sample.inputs.size(), job().inputs.size()); ++i) {
    require(!job().gives_label() || !is_text(job().inputs[i].kind) || !is_blank(sample.inputs[i].text),
            "[{}] line {}: the {} is empty", job().verb, number, job().inputs[i].name);
    if (!job().inputs[i].blank || sample.inputs[i].text.empty()) continue;
    BlankedText question = with_blank(sample.inputs[i].text);
    if (const auto fault = fault_of_blank(question)) fail("[{}] line {}: {}", job().verb, number, *fault);
    sample.inputs[i].text = std::move(question.text);
  }
  if (const auto twice = repeated_choice(sample.choices))
    fail("[{}] line {}: the choice {} is given twice", job().verb, number, *twice);
  for (const std::string& choice : sample.choices)
    require(!words_of_line(choice).empty(), "[{}] line {}: a choice is empty", job().verb, number);
  return sample;
}

EncodedSample Runner::encode(const Sample& sample, const InputLimits& limits, Index number, BadText bad,
                             std::vector<Choice>& choices, NoChoice none) const {
  const Bundle& bundle = *bundles_.front();
  const Index longest = limits.longest > 0 ? limits.longest : std::max(kUsualLongest, bundle.longest);
  const std::vector<JobSide>& sides = job().inputs;
  require(sample.inputs.size() == sides.size(), "[{}] {} inputs, but it reads {}", job().verb, sample.inputs.size(),
          sides.size());
  const auto readable = [&](const std::string& text) {
    if (valid_utf8(text)) return true;
    require(bad == BadText::counts_as_empty, "[{}] the text is not valid UTF-8 at byte {}", job().verb,
            valid_utf8_prefix(text));
    require(!job().gives_label(), "[{}] line {} is not valid UTF-8 at byte {}", job().verb, number,
            valid_utf8_prefix(text));
    warn_(fmt::format("line {} is not valid UTF-8 and counts as empty", number));
    return false;
  };
  const auto check_length = [&](EncodedInput& input) {
    const Index length = input.length();
    require(length <= longest || limits.too_long == TooLong::cut, "[{}] the input has {} pieces; {} are allowed",
            job().verb, length, longest);
    if (cut_input(input, longest))
      warn_(fmt::format("line {} has {} pieces and is cut to {}", number, length, longest));
  };
  EncodedSample encoded;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    EncodedInput& input = encoded.inputs.emplace_back();
    if (is_text(sides[i].kind) && !readable(sample.inputs[i].text)) continue;
    input = bundle.encode_input(i, sample.inputs[i]);
    if (!input.features) check_length(input);
  }
  if (job().chooses()) choices = bundle.choose_from(sample, encoded);
  if (sample.outputs.empty()) return encoded;
  if (job().gives_choice()) {
    const auto is_answer = [&sample](const Choice& choice) { return choice.text == sample.outputs.front(); };
    if (none == NoChoice::is_an_error || std::any_of(choices.begin(), choices.end(), is_answer))
      encoded.output = {choice_number(choices, sample)};
  } else if (job().gives_label()) {
    encoded.output = {bundle.label_number(sample.outputs.front())};
  } else if (readable(sample.outputs.front())) {
    EncodedInput output{.words = bundle.output_words(encoded).encode(sample.outputs.front())};
    check_length(output);
    encoded.output = std::move(output.words);
  }
  return encoded;
}

Runner::Encoded Runner::encode_all(std::span<const Sample> samples, const InputLimits& limits, BadText bad,
                                   Index before, NoChoice none) const {
  Encoded encoded;
  if (before == 0 && bundles_.front()->choices_given) {
    const auto bare = std::count_if(samples.begin(), samples.end(), [](const auto& x) { return x.choices.empty(); });
    if (bare > 0)
      warn_(
          fmt::format("{} of {} samples have no choices, but {} was trained with choices and has not learnt to choose "
                      "among all words of a text",
                      bare, samples.size(), name_));
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Index number = before + static_cast<Index>(i) + 1;
    encoded.prepared.push_back(prepared(samples[i], number));
    encoded.samples.push_back(
        encode(encoded.prepared.back(), limits, number, bad, encoded.choices.emplace_back(), none));
    const std::vector<EncodedInput>& inputs = encoded.samples.back().inputs;
    const auto empty =
        std::find_if(inputs.begin(), inputs.end(), [](const auto& input) { return input.length() == 0; });
    if (empty == inputs.end())
      encoded.places.push_back(i);
    else if (inputs.size() > 1)  // of a single text it is a line that stays empty
      warn_(fmt::format("line {}: its {} is empty, and so is its {}", number,
                        job().inputs[static_cast<std::size_t>(empty - inputs.begin())].name, job().output.name));
  }
  return encoded;
}

Result Runner::result_of(const Hypothesis& hypothesis, const EncodedSample& sample) const {
  const Bundle& bundle = *bundles_.front();
  const Vocabulary& written = bundle.output_words(sample);
  Result result;
  result.text = written.decode(hypothesis.words);
  result.log_probability = hypothesis.log_probability;
  result.score = hypothesis.score;
  result.finished = hypothesis.finished;
  const Tensor weights = bundle.writer->alignment_of_words(hypothesis.weights);
  if (const EncodedInput& input = sample.inputs.front(); weights && input.extended)
    result.alignment = align_words(written, input.copies, written, hypothesis.words, weights, bundle.unlinked_at_end);
  else if (weights && bundle.codes.inputs.front())
    result.alignment = align_words(*bundle.codes.inputs.front(), input.words, written, hypothesis.words, weights,
                                   bundle.unlinked_at_end);
  if (const FrameTimes& frames = sample.inputs.front().frames; hypothesis.weights && frames.step > 0)
    result.times = times_of(hypothesis, frames);
  return result;
}

std::vector<std::vector<Result>> Runner::run(std::span<const Sample> samples, const RunOptions& options) {
  require(options.prefixes.empty() || options.prefixes.size() == samples.size(), "[{}] {} prefixes for {} inputs",
          job().verb, options.prefixes.size(), samples.size());
  const Index first = see(samples.size());
  std::vector<Sample> inputs;  // without outputs
  for (const Sample& sample : samples) inputs.push_back(without_outputs(sample));
  const Encoded encoded = encode_all(inputs, options.limits, BadText::counts_as_empty, first);
  return writers_.empty() ? choose(encoded, options) : write(encoded, options, first);
}

SearchConstraint Runner::constraint(std::span<const EncodedSample> samples, const OutputLimits& limits) const {
  if (!limits.any()) return {};
  require(limits.most_words == 0 || limits.least_words <= limits.most_words,
          "[{}] an output of at least {} and at most {} words cannot be", job().verb, limits.least_words,
          limits.most_words);
  require(limits.least_words == 0 || limits.most_bytes == 0,
          "[{}] a fewest number of words and a most number of bytes may contradict each other; give one of them",
          job().verb);
  return [this, samples, limits](Index source, std::span<const std::int32_t> words) -> AllowsNext {
    const Vocabulary& output = bundles_.front()->output_words(samples[static_cast<std::size_t>(source)]);
    const TextSize written = text_size(output, words);
    // What one more piece adds depends on the last ones alone: whether it goes on with their word, and whether it is a
    // further byte of their character.
    constexpr std::size_t kLastPieces = 4;
    const auto last = words.last(std::min(kLastPieces, words.size()));
    return [&output, limits, written, last, before = text_size(output, last)](std::int32_t next) {
      if (next == kEnd) return written.words >= limits.least_words;
      std::vector<std::int32_t> longer(last.begin(), last.end());
      longer.push_back(next);
      const TextSize after = text_size(output, longer);
      return (limits.most_words == 0 || written.words + after.words - before.words <= limits.most_words) &&
             (limits.most_bytes == 0 || written.bytes + after.bytes - before.bytes <= limits.most_bytes);
    };
  };
}

std::vector<std::vector<Result>> Runner::write(const Encoded& encoded, const RunOptions& options, Index first) const {
  BatchedSearch search = options.search;
  search.options.prefixes.clear();
  search.options.sentences.clear();
  std::vector<EncodedSample> samples;
  for (const std::size_t i : encoded.places) {
    samples.push_back(encoded.samples[i]);
    search.options.sentences.push_back(static_cast<std::uint64_t>(first) + i);
    if (options.prefixes.empty()) continue;
    require(valid_utf8(options.prefixes[i]), "[{}] the prefix is not valid UTF-8 at byte {}", job().verb,
            valid_utf8_prefix(options.prefixes[i]));
    search.options.prefixes.push_back(bundles_.front()->output_words(samples.back()).encode(options.prefixes[i]));
  }
  search.options.allows = constraint(samples, options.outputs);
  search.extractive = bundles_.front()->extractive;
  search.screen = screen_;
  if (options.on_step) search.options.observer = [&options](const SearchStep&) { options.on_step(); };
  const Hypotheses found = search_batches(writers_, samples, search, threads_);
  std::vector<std::vector<Result>> results(encoded.samples.size(), std::vector<Result>(1));
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<Result>& answers = results[encoded.places[i]];
    answers.clear();
    for (const Hypothesis& hypothesis : found[i]) answers.push_back(result_of(hypothesis, samples[i]));
    if (!answers.front().times) continue;
    for (const std::string& doubt : answers.front().times->doubts)
      warn_(fmt::format("input {}: {}", first + static_cast<Index>(encoded.places[i]) + 1, doubt));
  }
  return results;
}

std::vector<double> Runner::reranked(const Sample& prepared, const std::vector<Choice>& choices,
                                     std::vector<double> probabilities, const RunOptions& options) const {
  const auto& reranking = bundles_.front()->reranking;
  if (!reranking || !options.rerank) return probabilities;
  std::vector<std::string> answers;
  answers.reserve(choices.size());
  for (const Choice& choice : choices) answers.push_back(choice.text);
  const std::vector<Value>& inputs = prepared.inputs;
  return reranking->reranked(inputs[0].text, inputs[1].text, answers, probabilities);
}

std::vector<std::vector<Result>> Runner::choose(const Encoded& encoded, const RunOptions& options) const {
  require(options.prefixes.empty(), "[{}] what is chosen has no prefix", job().verb);
  std::vector<EncodedSample> samples;
  for (const std::size_t i : encoded.places) samples.push_back(encoded.samples[i]);
  auto found = choose_batches(choosers_, samples, options.search.batch, threads_, options.on_step);
  for_each_batch(threads_, found.size(), [&](std::size_t i) {
    const std::size_t place = encoded.places[i];
    found[i] = reranked(encoded.prepared[place], encoded.choices[place], std::move(found[i]), options);
  });
  std::vector<std::vector<Result>> results(encoded.samples.size(), std::vector<Result>(1));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<Choice>& choices = encoded.choices[encoded.places[i]];
    std::vector<Result>& answers = results[encoded.places[i]];
    answers.clear();
    for (std::size_t k = 0; k < found[i].size(); ++k)
      answers.push_back({.text = choices[k].text,
                         .log_probability = std::log(found[i][k]),
                         .score = found[i][k],
                         .begin = choices[k].begin,
                         .end = choices[k].end});
    std::stable_sort(answers.begin(), answers.end(),
                     [](const Result& a, const Result& b) { return a.score > b.score; });
    answers.resize(std::min(answers.size(), static_cast<std::size_t>(options.search.options.best)));
  }
  return results;
}

std::vector<SampleScore> Runner::score(std::span<const Sample> samples, const InputLimits& limits,
                                       const BatchLimits& batch, NoChoice none) {
  for (const Sample& sample : samples)
    require(!sample.outputs.empty(), "[score] a sample has no output whose probability could be asked for");
  const Encoded encoded = encode_all(samples, limits, BadText::counts_as_empty, see(samples.size()), none);
  std::vector<std::size_t> lengths;
  for (const EncodedSample& sample : encoded.samples) lengths.push_back(batch_length(sample));
  const auto batches = batches_by_length(lengths, batch);
  const double share = std::log(static_cast<double>(bundles_.size()));
  std::vector<SampleScore> scores(samples.size());
  for_each_batch(threads_, batches.size(), [&](std::size_t number) {
    const NoGradient off;
    const std::vector<std::size_t>& chosen = batches[number];
    const SampleBatch read = chosen_batch(encoded.samples, chosen, job().chooses());
    // The logarithm of the mean of the models' probabilities of every expected word or label.
    std::vector<double> logs(static_cast<std::size_t>(read.expected.size()));
    for (std::size_t k = 0; k < bundles_.size(); ++k) {
      const Tensor logits = writers_.empty()
                                ? choosers_[k]->forward(read.inputs).scores.value()
                                : writers_[k]->forward(read.inputs.front(), read.previous).words.logits().value();
      const Tensor words = log_probabilities_of(logits).contiguous();
      const Index vocabulary = words.size(-1);
      for (std::size_t i = 0; i < logs.size(); ++i) {
        if (read.expected.data()[i] < 0) continue;  // beyond the end
        const Index at = static_cast<Index>(i) * vocabulary + read.expected.data()[i];
        const double word = static_cast<double>(words.data()[at]) - share;
        logs[i] = k == 0 ? word : add_logarithms(logs[i], word);
      }
    }
    const Index steps = read.expected.size() / static_cast<Index>(chosen.size());
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      SampleScore& score = scores[chosen[row]];
      const bool known = !encoded.samples[chosen[row]].output.empty();
      score.words = !writers_.empty() ? read.previous.lengths.data()[row] : known ? 1 : 0;
      const double* first = logs.data() + static_cast<Index>(row) * steps;
      score.log_probability = std::accumulate(first, first + score.words, 0.0);
    }
  });
  return scores;
}

}  // namespace heed
