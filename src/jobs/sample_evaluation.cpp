#include "heed/jobs/sample_evaluation.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/explain/confusion_svg.h"
#include "heed/jobs/job_metrics.h"
#include "heed/jobs/kept_sense.h"

namespace heed {
namespace {

constexpr Index kMostWarnings = 5;  // of one kind of work; a test set may have thousands of long texts

// With features that are computed once, however often its samples are read. A file that nobody named has no name: it
// goes when this process does, however that ends.
std::shared_ptr<const Bundle> keeping_features(const std::string& folder, const std::string& features,
                                               const RunSettings& settings) {
  Bundle bundle = load_bundle(ModelFolder(folder), FolderWeights::trained, 1, Numbers::stored, settings);
  const std::string nameless =
      (std::filesystem::temp_directory_path() / fmt::format("heed-evaluate-{}", ::getpid())).string();
  KeptFeatures(bundle, features, nameless).remove();
  return std::make_shared<const Bundle>(std::move(bundle));
}

EvaluatedSamples evaluate(const std::string& folder, const SampleEvaluationOptions& options, const Runner::Warn& warn) {
  Index warned = 0;
  Runner runner(keeping_features(folder, options.features, options.settings), name_of_folder(folder), options.threads,
                [&](const std::string& line) {
                  if (warned++ < kMostWarnings) warn(line);
                });
  const Job& job = runner.job();
  require(!options.confusion || job.gives_label(), "[evaluate] --confusion is about labels; {} gives {} ({})", folder,
          job.output.name, name_of(job.output.kind));
  require(!options.results || job.results, "[evaluate] --results: {} has no such form", job.name);
  const TestSet test = read_test_set(job, options.files(job), options.gold, options.gold_first);
  if (!test.report.empty()) warn(test.report);
  EvaluatedSamples model{folder, &job, test.samples.size(),
                         measure_quality(runner, test, options.run, options.unknown_labels)};
  if (warned > kMostWarnings) warn(fmt::format("{} warnings more are left out", warned - kMostWarnings));
  if (const Index unknown = model.quality.unknown_labels; unknown > 0)
    warn(fmt::format(
        "{} samples have {}: they count as wrong, and have no cross-entropy", unknown,
        job.gives_choice() ? "answers that are no choice" : fmt::format("labels that {} does not know", folder)));
  std::vector<std::string> outputs;
  for (const Result& output : model.quality.outputs) outputs.push_back(output.text);
  for (const Metric& metric : job.metrics) {
    if (!metric.by_samples) continue;
    auto& each = model.resampled.emplace_back(
        EvaluatedSamples::Resampled{&metric, metric.by_samples(outputs, test.samples), {}, {}});
    if (options.draws > 0) each.interval = bootstrap_interval(each.score, outputs.size(), options.draws);
  }
  if (job.report) model.report = job.report(outputs, test.samples);
  if (options.results) model.results = job.results(outputs, test.samples, options.files(job));
  if (job.gives_label()) model.labels = label_pairs(outputs, test.samples);
  if (!options.annotations.empty())
    model.rationales = find_rationales(runner, read_eraser_annotations(options.annotations), test.samples);
  if (options.trust) {
    ExplainOptions explained;
    explained.run.search = options.run.search;
    model.trust = measure_set_trust(runner, test.samples, *options.trust, options.draws, explained);
  }
  return model;
}

void test_against(const EvaluatedSamples& first, EvaluatedSamples& model, Index draws) {
  require(first.job == model.job && first.samples == model.samples,
          "[evaluate] {} and {} cannot be compared: they are for different jobs", first.name, model.name);
  for (std::size_t i = 0; i < model.resampled.size(); ++i)
    model.resampled[i].against_first =
        paired_bootstrap(first.resampled[i].score, model.resampled[i].score, model.samples, draws);
}

// Every number of a model: title, name in JSON, value, digits.
struct Number {
  std::string title, name;
  double value;
  int digits;
};
std::vector<Number> numbers_of(const Quality& quality) {
  std::vector<Number> numbers;
  for (const auto& [metric, value] : quality.metrics)
    numbers.push_back({metric->title, metric->name, value, metric->digits});
  numbers.push_back({"cross-entropy", "cross_entropy", quality.cross_entropy, 3});
  numbers.push_back({"perplexity", "perplexity", std::exp(quality.cross_entropy), 3});
  if (quality.alignment) numbers.push_back({"AER", "aer", quality.alignment->error_rate(), 4});
  if (quality.gold) {
    numbers.push_back({"gold share", "gold_share", quality.gold->share, 3});
    numbers.push_back({"if uniform", "uniform_gold_share", quality.gold->uniform, 3});
    if (quality.regions) numbers.push_back({"pointing", "pointing", quality.gold->hits, 3});
  }
  if (quality.regions) {
    numbers.push_back({"entropy", "attention_entropy", quality.regions->entropy, 3});
    numbers.push_back({"of uniform", "uniform_entropy", quality.regions->uniform, 3});
    numbers.push_back({"movement", "attention_movement", quality.regions->movement, 3});
  }
  if (quality.times) {
    numbers.push_back({"in 20 ms", "boundaries_within_20_ms", quality.times->share(0), 3});
    numbers.push_back({"in 50 ms", "boundaries_within_50_ms", quality.times->share(1), 3});
    numbers.push_back({"in 100 ms", "boundaries_within_100_ms", quality.times->share(2), 3});
  }
  if (quality.entropy) numbers.push_back({"entropy", "attention_entropy", *quality.entropy, 3});
  numbers.push_back({"samples/s", "samples_per_second", quality.samples_per_second, 1});
  return numbers;
}

nlohmann::ordered_json as_json(const ScoreInterval& interval) {
  return {{"score", interval.score}, {"low", interval.low}, {"high", interval.high}};
}
nlohmann::ordered_json as_json(const SetTrust& trust) {
  nlohmann::ordered_json all{{"samples", trust.samples}, {"left_out", trust.left_out}};
  for (const SetTrust::Number& number : trust.numbers)
    if (number.samples > 0)
      all[number.name] = {
          {"samples", number.samples}, {"weights", as_json(number.own)}, {"random", as_json(number.random)}};
  return all;
}

nlohmann::ordered_json as_json(const Rationales& rationales) {
  const auto scores = [](const PrecisionRecall& of) {
    return nlohmann::ordered_json{{"precision", of.precision}, {"recall", of.recall}, {"f1", of.f1}};
  };
  const auto both = [&scores](const RationaleAgreement& of) {
    return nlohmann::ordered_json{{"micro", scores(of.micro)}, {"macro", scores(of.macro)}};
  };
  return {{"share", rationales.share},
          {"spans", both(rationales.spans)},
          {"words", both(rationales.tokens)},
          {"area", rationales.area},
          {"comprehensiveness", rationales.comprehensiveness},
          {"sufficiency", rationales.sufficiency}};
}

std::string intervals_of(const EvaluatedSamples& model) {
  std::string text;
  for (const EvaluatedSamples::Resampled& each : model.resampled)
    if (const auto& interval = each.interval)
      text += fmt::format("{}{} {:.{}f} .. {:.{}f}", text.empty() ? "" : ", ", each.metric->title, interval->low,
                          each.metric->digits, interval->high, each.metric->digits);
  return text;
}

}  // namespace

SampleEvaluation evaluate_samples(const SampleEvaluationOptions& options, const Runner::Warn& warn) {
  require(!options.models.empty(), "[evaluate] --data needs --model to run on it");
  require(!options.significance || (options.models.size() > 1 && options.draws > 0),
          "[evaluate] --significance compares at least two models, by at least one of --draws");
  require(!options.confusion || options.models.size() == 1, "[evaluate] --confusion draws one model, not {}",
          options.models.size());
  require(!options.results || options.models.size() == 1, "[evaluate] --results are those of one model, not {}",
          options.models.size());
  SampleEvaluation evaluation{{}, options.draws};
  for (const std::string& folder : options.models) {
    EvaluatedSamples& model = evaluation.models.emplace_back(evaluate(folder, options, warn));
    if (options.significance && evaluation.models.size() > 1)
      test_against(evaluation.models.front(), model, options.draws);
  }
  return evaluation;
}

std::string SampleEvaluation::text() const {
  std::size_t width = 20;
  for (const EvaluatedSamples& model : models) width = std::max(width, model.name.size());
  std::string text, last_head, intervals, tests;
  for (const EvaluatedSamples& model : models) {
    std::string head = fmt::format("{:<{}} {:>8}", "model", width, "samples"),
                row = fmt::format("{:<{}} {:>8}", model.name, width, model.samples);
    for (const Number& number : numbers_of(model.quality)) {
      const std::size_t wide = std::max<std::size_t>(number.title.size(), 8);
      head += fmt::format("  {:>{}}", number.title, wide);
      row += fmt::format("  {:>{}.{}f}", number.value, wide, number.digits);
    }
    if (head != last_head) text += head + "\n";
    last_head = head;
    text += row + "\n";
    if (const std::string within = intervals_of(model); !within.empty())
      intervals += fmt::format("{:<{}} {}\n", model.name, width, within);
    for (const EvaluatedSamples::Resampled& each : model.resampled)
      if (each.against_first)
        tests += fmt::format("{:<{}} {}\n", model.name, width,
                             written(*each.against_first, each.metric->title, each.metric->digits));
  }
  if (!intervals.empty()) text += fmt::format("\nIn 95 % of {} draws of the samples:\n{}", draws, intervals);
  if (!tests.empty()) text += fmt::format("\nAgainst {}, by {} paired draws:\n{}", models[0].name, draws, tests);
  for (const EvaluatedSamples& model : models)
    for (const std::string& part :
         {model.report, model.rationales ? model.rationales->text() : "", model.trust ? model.trust->text(draws) : ""})
      if (!part.empty()) text += fmt::format("\n{}{}", models.size() > 1 ? model.name + "\n" : "", part);
  return text;
}

std::string SampleEvaluation::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const EvaluatedSamples& model : models) {
    nlohmann::ordered_json one{{"model", model.name}, {"job", model.job->name}, {"samples", model.samples}};
    for (const Number& number : numbers_of(model.quality)) one[number.name] = number.value;
    if (model.quality.unknown_labels > 0) one["unknown_labels"] = model.quality.unknown_labels;
    for (const EvaluatedSamples::Resampled& each : model.resampled) {
      if (const auto& interval = each.interval)
        one["intervals"][each.metric->name] = {{"low", interval->low}, {"high", interval->high}};
      if (const auto& test = each.against_first)
        one["against_first"][each.metric->name] = {
            {"difference", test->difference}, {"low", test->low}, {"high", test->high}, {"p_value", test->p_value}};
    }
    const std::vector<LabelCounts> counts = label_counts(model.labels);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const LabelScores scores = label_scores(counts[i]);
      one["labels"].push_back({{"label", model.labels.labels[i]},
                               {"precision", scores.precision},
                               {"recall", scores.recall},
                               {"f1", scores.f1},
                               {"support", scores.support}});
    }
    if (model.rationales) one["rationales"] = as_json(*model.rationales);
    if (model.trust) one["trust"] = as_json(*model.trust);
    all.push_back(std::move(one));
  }
  return nlohmann::ordered_json{{"models", all}}.dump(2) + "\n";
}

std::string SampleEvaluation::draw_confusion() const { return draw_confusion_svg(models.front().labels); }

}  // namespace heed
