#include "heed/jobs/quality.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/data/eraser.h"
#include "heed/data/text_file.h"
#include "heed/explain/faithfulness.h"
#include "heed/trace/merge.h"

namespace heed {
namespace {

constexpr std::size_t kTracesAtOnce = 256;

double information(double probability) { return probability > 0 ? -probability * std::log(probability) : 0; }

// The samples whose right outputs the model can be asked about: all but those with labels that it does not know.
std::vector<Sample> known_samples(const Runner& runner, const TestSet& test, UnknownLabels unknown) {
  if (!runner.job().gives_label()) return test.samples;
  const std::vector<std::string>& labels = runner.bundle().codes.labels;
  std::vector<Sample> known;
  for (std::size_t i = 0; i < test.samples.size(); ++i) {
    const std::string& label = test.samples[i].outputs.front();
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) {
      known.push_back(test.samples[i]);
      continue;
    }
    const std::string place = test.places.empty()
                                  ? fmt::format("sample {}", i + 1)
                                  : fmt::format("{}, line {}", test.places[i].file, test.places[i].line);
    require(unknown == UnknownLabels::count, "{}: the model {} has no label {}{}", place, runner.name(), label,
            did_you_mean(label, labels));
  }
  return known;
}

// Entropy and alignment error of the model on the right outputs.
void measure_alignments(Runner& runner, const TestSet& test, const ExplainOptions& options, Quality& quality) {
  const Job& job = runner.job();
  if (job.chooses() || !is_text(job.inputs.front().kind) || runner.attentions().empty()) return;
  AlignmentCounts counts;
  GoldShare share;
  double entropy = 0;
  Index words = 0;
  for (std::size_t first = 0; first < test.samples.size(); first += kTracesAtOnce) {
    const std::size_t count = std::min(kTracesAtOnce, test.samples.size() - first);
    const std::vector<Trace> traces = runner.explain(std::span(test.samples).subspan(first, count), options);
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (!traces[i].alignment) return;
      const WordAlignment alignment = alignment_without_end(by_words(traces[i]));
      const auto rows = static_cast<Index>(alignment.target.size());
      entropy += alignment_entropy(alignment) * static_cast<double>(rows);
      words += rows;
      if (test.gold.empty()) continue;
      counts += compare_alignment(parse_alignment(hard_alignment(alignment)), test.gold[first + i]);
      share += gold_share(traces[i], test.gold[first + i]);
    }
  }
  quality.entropy = entropy / static_cast<double>(std::max<Index>(words, 1));
  if (!test.gold.empty()) quality.alignment = counts;
  if (share.rows > 0) quality.gold = share;
}

// Where the model looks in an image while it reads the right outputs: entropy and movement, and the gold boxes.
void measure_regions(Runner& runner, const TestSet& test, Quality& quality) {
  const Job& job = runner.job();
  if (job.inputs.front().kind != Kind::image || job.gives_label() || runner.attentions().empty()) return;
  GoldShare share;
  RegionLooks looks;
  Index words = 0, moves = 0;
  for (std::size_t first = 0; first < test.samples.size(); first += kTracesAtOnce) {
    const std::size_t count = std::min(kTracesAtOnce, test.samples.size() - first);
    const std::vector<Trace> traces = runner.explain(std::span(test.samples).subspan(first, count));
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (!traces[i].alignment) return;
      if (!test.boxes.empty()) share += box_share(traces[i], test.boxes[first + i]);
      const Tensor weights = without_end(traces[i]).alignment.contiguous();
      const Index n = weights.size(0), m = weights.size(1);
      for (const double entropy : row_entropies(weights)) looks.entropy += entropy;
      looks.uniform += static_cast<double>(n) * std::log(static_cast<double>(m));
      for (Index k = 0; k < (n - 1) * m; ++k)
        looks.movement += std::abs(static_cast<double>(weights.data()[k + m] - weights.data()[k])) / 2;
      words += n, moves += n - 1;
    }
  }
  looks.entropy /= static_cast<double>(std::max<Index>(words, 1));
  looks.uniform /= static_cast<double>(std::max<Index>(words, 1));
  looks.movement /= static_cast<double>(std::max<Index>(moves, 1));
  quality.regions = looks;
  if (share.rows > 0) quality.gold = share;
}

// ERASER's evidences as links of a label: words of the first input, all that are named together.
std::vector<AlignmentLinks> gold_words(const Job& job, const std::string& file) {
  require(job.chooses(), "{}: evidences are about what is chosen, and {} writes", file, job.name);
  std::vector<AlignmentLinks> all;
  for (const EraserAnnotation& annotation : read_eraser_annotations(file)) {
    std::set<Index> words;
    for (const auto& group : annotation.evidences)
      for (const EraserEvidence& evidence : group)
        if (annotation.docids.empty() || evidence.docid == annotation.docids.front())
          for (Index word = evidence.start_token; word >= 0 && word < evidence.end_token; ++word) words.insert(word);
    AlignmentLinks& links = all.emplace_back();
    for (const Index word : words) links.sure.emplace_back(word, 0);
    links.possible = links.sure;
  }
  return all;
}

// Where the model looks when it chooses, beside the words that decide.
void measure_gold(Runner& runner, const TestSet& test, const ExplainOptions& options, Quality& quality) {
  if (!runner.job().chooses() || test.gold.empty() || runner.attentions().empty()) return;
  GoldShare share;
  for (std::size_t first = 0; first < test.samples.size(); first += kTracesAtOnce) {
    std::vector<Sample> samples;
    for (std::size_t i = first; i < std::min(first + kTracesAtOnce, test.samples.size()); ++i)
      samples.push_back(without_outputs(test.samples[i]));
    const std::vector<Trace> traces = runner.explain(samples, options);
    for (std::size_t i = 0; i < traces.size(); ++i) share += gold_share(traces[i], test.gold[first + i]);
  }
  if (share.rows > 0) quality.gold = share;
}

// How near the words are to their gold times, which CTM has by the names of the sounds: with or without their folders
// and endings.
void measure_times(const TestSet& test, Quality& quality) {
  std::unordered_map<std::string, const Transcript*> by_name;
  for (const Transcript& transcript : test.gold_times) by_name[transcript.name] = &transcript;
  for (std::size_t i = 0; i < quality.outputs.size() && !by_name.empty(); ++i) {
    const std::string& name = test.samples[i].inputs.front().text;
    const std::filesystem::path path(name);
    auto gold = by_name.find(name);
    if (gold == by_name.end()) gold = by_name.find(path.filename().string());
    if (gold == by_name.end()) gold = by_name.find(path.stem().string());
    if (gold == by_name.end() || !quality.outputs[i].times) continue;
    if (!quality.times) quality.times.emplace();
    *quality.times += count_boundaries(gold->second->words, quality.outputs[i].times->transcript.words);
  }
}

}  // namespace

TestSet read_test_set(const Job& job, const SampleFiles& files, const std::string& gold, Index gold_first) {
  TestSet test;
  Samples samples(files, job.sample_columns());
  for (Sample sample; samples.next(sample);) {
    test.samples.push_back(std::move(sample));
    test.places.push_back(samples.place());
  }
  require(!test.samples.empty(), "{}: there is no usable sample in it: {}", files.files.front(),
          samples.report().text());
  if (samples.report().left_out() > 0) test.report = samples.report().text();
  if (gold.empty()) return test;
  require(test.report.empty(), "{}: its lines cannot be matched with the samples, some of which are left out: {}", gold,
          test.report);
  const auto require_as_many = [&](std::size_t lines) {
    require(lines == test.samples.size(), "{}: it has {} lines, but there are {} samples", gold, lines,
            test.samples.size());
  };
  if (gold.ends_with(".ctm")) {
    test.gold_times = read_ctm(gold);
    return test;
  }
  if (gold.ends_with(".jsonl") && job.inputs.front().kind == Kind::image) {
    test.boxes = read_gold_boxes(gold);
    require_as_many(test.boxes.size());
    return test;
  }
  if (gold.ends_with(".jsonl")) {
    test.gold = gold_words(job, gold);
    require_as_many(test.gold.size());
    return test;
  }
  const std::vector<std::string> links = LineReader(gold).rest();
  require_as_many(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    try {
      test.gold.push_back(parse_alignment(links[i], gold_first));
    } catch (const Error& error) {
      fail("{}, line {}: {}", gold, i + 1, error.what());
    }
  }
  return test;
}

Quality measure_quality(Runner& runner, const TestSet& test, const RunOptions& options, UnknownLabels unknown) {
  Quality quality;
  const std::vector<Sample> known = known_samples(runner, test, unknown);
  quality.unknown_labels = static_cast<Index>(test.samples.size() - known.size());
  const auto began = std::chrono::steady_clock::now();
  for (std::vector<Result>& best : runner.run(test.samples, options))
    quality.outputs.push_back(std::move(best.front()));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  quality.samples_per_second = static_cast<double>(test.samples.size()) / std::max(took.count(), 1e-9);

  std::vector<std::string> texts;
  for (const Result& result : quality.outputs) texts.push_back(result.text);
  for (const Metric& metric : runner.job().metrics)
    quality.metrics.emplace_back(&metric, metric.measure(texts, test.samples));

  double log_probability = 0;
  Index words = 0;
  for (const SampleScore& score :
       runner.score(known, options.limits, options.search.batch, Runner::NoChoice::has_no_words)) {
    log_probability += score.log_probability;
    words += score.words;
    if (score.words == 0) ++quality.unknown_labels;  // an answer that is none of the choices
  }
  quality.cross_entropy = -log_probability / static_cast<double>(words);
  ExplainOptions as_run;  // texts are cut where they were when the model ran
  as_run.run.limits = options.limits;
  measure_alignments(runner, test, as_run, quality);
  measure_gold(runner, test, as_run, quality);
  measure_regions(runner, test, quality);
  measure_times(test, quality);
  return quality;
}

double alignment_entropy(const WordAlignment& alignment) {
  const auto rows = static_cast<Index>(alignment.target.size()), columns = static_cast<Index>(alignment.source.size());
  double sum = 0;
  for (Index i = 0; i < rows; ++i) {
    double rest = 1;
    for (Index j = 0; j < columns; ++j) {
      const auto weight = static_cast<double>(alignment.weights.at({i, j}));
      rest -= weight;
      sum += information(weight);
    }
    sum += information(rest);
  }
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

}  // namespace heed
