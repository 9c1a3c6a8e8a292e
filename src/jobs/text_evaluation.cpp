#include "heed/jobs/text_evaluation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/data/text_file.h"
#include "heed/explain/plot.h"
#include "heed/jobs/quality.h"

namespace heed {
namespace {

struct NamedLines {
  std::string name;
  std::vector<std::string> lines;
};

NamedLines read_lines(const std::string& path) {
  LineReader reader(path);
  NamedLines file{reader.name(), reader.rest()};
  require(!file.lines.empty(), "[evaluate] {} is empty", file.name);
  return file;
}

NamedLines read_lines_like(const std::string& path, const NamedLines& other) {
  NamedLines file = read_lines(path);
  require(file.lines.size() == other.lines.size(), "[evaluate] {} has {} lines, but {} has {}", file.name,
          file.lines.size(), other.name, other.lines.size());
  return file;
}

AlignmentLinks parse_numbered(const NamedLines& file, std::size_t line, Index first) {
  try {
    return parse_alignment(file.lines[line], first);
  } catch (const Error& error) {
    fail("[evaluate] {}, line {}: {}", file.name, line + 1, error.what());
  }
}

struct Gold {
  NamedLines file;
  std::vector<AlignmentLinks> links;  // empty without gold alignments
};

Gold read_gold(const TextEvaluationOptions& options) {
  Gold gold;
  if (options.gold.empty()) return gold;
  gold.file = read_lines(options.gold);
  for (std::size_t i = 0; i < gold.file.lines.size(); ++i)
    gold.links.push_back(parse_numbered(gold.file, i, options.gold_first));
  return gold;
}

std::vector<EvaluatedAlignment> evaluate_alignments(const TextEvaluationOptions& options, const Gold& gold) {
  std::vector<EvaluatedAlignment> alignments;
  for (const std::string& path : options.alignments) {
    const NamedLines file = read_lines_like(path, gold.file);
    EvaluatedAlignment& each = alignments.emplace_back(EvaluatedAlignment{file.name, {}});
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      each.counts += compare_alignment(parse_numbered(file, i, options.alignment_first), gold.links[i]);
  }
  return alignments;
}

// Everything that texts are measured against.
struct Measures {
  const TextEvaluationOptions& options;
  const std::vector<TextMetric>& metrics;
  std::vector<std::vector<std::string>> references;  // all of each sentence
  std::vector<std::string> sources;                  // empty if not given

  EvaluatedTexts of(std::string name, std::span<const std::string> lines) const {
    EvaluatedTexts system;
    system.name = std::move(name);
    BleuCounts sum;
    for (std::size_t i = 0; i < lines.size(); ++i)
      sum += system.sentences.emplace_back(bleu_counts(lines[i], references[i], options.bleu));
    system.bleu = bleu(sum, options.bleu);
    system.chrf = corpus_chrf(lines, references, options.chrf);
    std::vector<Index> lengths;
    for (const std::string& line : sources) lengths.push_back(static_cast<Index>(split_words(line).size()));
    if (!lengths.empty()) system.by_length = bleu_by_length(lengths, system.sentences, options.bucket, options.bleu);
    for (const TextMetric& metric : metrics) {
      const ScoreOfSamples score = metric.by_samples(lines, references);
      MeasuredTexts& measured =
          system.measured.emplace_back(MeasuredTexts{score, score_of_all(score, lines.size()), {}, {}});
      if (options.draws > 0) measured.interval = bootstrap_interval(score, lines.size(), options.draws);
    }
    return system;
  }
};

// Runs a model on the sources, and lets it read the references.
void evaluate_model(const std::string& folder, const std::string& name, const Measures& measures, const Gold& gold,
                    const Runner::Warn& warn, TextEvaluation& evaluation) {
  Runner runner({folder}, measures.options.threads, warn, FolderWeights::trained, Numbers::stored,
                measures.options.settings);
  const Job& job = runner.job();
  require(!job.chooses() && is_text(job.inputs.front().kind), "{}: it does not write texts for texts; give --data",
          folder);
  TestSet test;
  test.gold = gold.links;
  for (std::size_t i = 0; i < measures.sources.size(); ++i)
    test.samples.push_back(sample_of({measures.sources[i]}, measures.references[i]));
  const Quality quality = measure_quality(runner, test, measures.options.run);
  std::vector<std::string> lines;
  std::size_t words = 0;
  for (const Result& output : quality.outputs) {
    lines.push_back(output.text);
    words += split_words(output.text).size();
  }
  EvaluatedTexts& system = evaluation.systems.emplace_back(measures.of(name, lines));
  const double per_sample = static_cast<double>(words) / static_cast<double>(lines.size());
  system.model = {std::exp(quality.cross_entropy), quality.samples_per_second, quality.samples_per_second * per_sample};
  if (quality.alignment) evaluation.alignments.push_back({name, *quality.alignment});
}

template <class List>
std::size_t widest_name(const List& list, std::size_t least) {
  for (const auto& each : list) least = std::max(least, each.name.size());
  return least;
}

double length_ratio(const Bleu& bleu) {
  const auto reference = static_cast<double>(bleu.counts.reference_length);
  return reference == 0 ? 0 : static_cast<double>(bleu.counts.hypothesis_length) / reference;
}

std::string models_text(const std::vector<EvaluatedTexts>& systems, std::size_t width) {
  const auto is_model = [](const EvaluatedTexts& system) { return system.model.has_value(); };
  if (std::none_of(systems.begin(), systems.end(), is_model)) return "";
  std::string text = fmt::format("\n{:<{}}  perplexity  sentences/s  words/s\n", "model", width);
  for (const EvaluatedTexts& system : systems)
    if (const auto& model = system.model)
      text += fmt::format("{:<{}}  {:10.3f}  {:11.1f}  {:7.0f}\n", system.name, width, model->perplexity,
                          model->samples_per_second, model->words_per_second);
  return text;
}

// The metrics that were asked for, with their intervals.
std::string measured_text(const TextEvaluation& evaluation) {
  const std::vector<EvaluatedTexts>& systems = evaluation.systems;
  const std::size_t width = widest_name(systems, 6);
  std::size_t title = 6;
  for (const TextMetric& metric : evaluation.metrics) title = std::max(title, metric.title.size());
  std::string text = fmt::format("{:<{}}  {:<{}}   score", "system", width, "metric", title);
  text += evaluation.draws > 0 ? fmt::format("  in 95 % of {} draws\n", evaluation.draws) : "\n";
  std::string tests;
  for (const EvaluatedTexts& system : systems)
    for (std::size_t i = 0; i < system.measured.size(); ++i) {
      const TextMetric& metric = evaluation.metrics[i];
      const auto& [score, of_all, interval, against_first] = system.measured[i];
      text += fmt::format("{:<{}}  {:<{}}  {:6.{}f}", system.name, width, metric.title, title, of_all, metric.digits);
      if (interval)
        text += fmt::format("  {:.{}f} .. {:.{}f}", interval->low, metric.digits, interval->high, metric.digits);
      text += "\n";
      if (against_first)
        tests += fmt::format("{:<{}}  {}\n", system.name, width, written(*against_first, metric.title, metric.digits));
    }
  for (std::size_t i = 0; i < evaluation.metrics.size(); ++i)
    text += fmt::format("{:<{}}  {}\n", evaluation.metrics[i].title, title, evaluation.signatures[i]);
  if (!tests.empty())
    text += fmt::format("\nAgainst {}, by {} paired draws:\n{}", systems[0].name, evaluation.draws, tests);
  return text + models_text(systems, width);
}

std::string systems_text(const TextEvaluation& evaluation) {
  const std::vector<EvaluatedTexts>& systems = evaluation.systems;
  const std::size_t width = widest_name(systems, 6);
  const std::string& chrf = evaluation.chrf_name;
  std::string text =
      fmt::format("{:<{}}  {:>6}   {:<23}  brevity  length  {:>7}\n", "system", width, "BLEU", "precisions 1-4", chrf);
  for (const EvaluatedTexts& system : systems) {
    const auto& p = system.bleu.precisions;
    text += fmt::format("{:<{}}  {:6.2f}   {:<23}  {:7.3f}  {:6.3f}  {:7.2f}\n", system.name, width, system.bleu.score,
                        fmt::format("{:.1f}/{:.1f}/{:.1f}/{:.1f}", p[0], p[1], p[2], p[3]), system.bleu.brevity_penalty,
                        length_ratio(system.bleu), system.chrf);
  }
  text += fmt::format("{:<{}}  {}\n{}  {}\n", "BLEU", chrf.size(), evaluation.bleu_signature, chrf,
                      evaluation.chrf_signature);
  if (evaluation.significance) {
    text += fmt::format("\nAgainst {}, by {} paired draws:\n", systems[0].name, evaluation.draws);
    for (std::size_t k = 1; k < systems.size(); ++k)
      text += fmt::format("{:<{}}  {}\n", systems[k].name, width, written(*systems[k].against_first, "BLEU"));
  }
  text += models_text(systems, width);
  if (systems[0].by_length.empty()) return text;
  text += fmt::format("\nBLEU by source length:\n{:<12}  {:>9}", "words", "sentences");
  for (const EvaluatedTexts& system : systems)
    text += fmt::format("  {:>{}}", system.name, std::max<std::size_t>(6, system.name.size()));
  text += "\n";
  for (std::size_t row = 0; row < systems[0].by_length.size(); ++row) {
    const LengthBucket& bucket = systems[0].by_length[row];
    text += fmt::format("{:<12}  {:>9}", fmt::format("{}-{}", bucket.shortest, bucket.longest), bucket.sentences);
    for (const EvaluatedTexts& system : systems)
      text +=
          fmt::format("  {:>{}.2f}", system.by_length[row].bleu.score, std::max<std::size_t>(6, system.name.size()));
    text += "\n";
  }
  return text;
}

std::string alignments_text(const std::vector<EvaluatedAlignment>& alignments) {
  const std::size_t width = widest_name(alignments, 9);
  std::string text = fmt::format("{:<{}}     AER  precision  recall\n", "alignment", width);
  for (const EvaluatedAlignment& each : alignments)
    text += fmt::format("{:<{}}  {:6.4f}     {:6.4f}  {:6.4f}\n", each.name, width, each.counts.error_rate(),
                        each.counts.precision(), each.counts.recall());
  return text;
}

nlohmann::ordered_json json_of(const PairedBootstrap& test) {
  return {{"difference", test.difference}, {"low", test.low}, {"high", test.high}, {"p_value", test.p_value}};
}

void test_against(const EvaluatedTexts& first, EvaluatedTexts& system, const TextEvaluationOptions& options) {
  const std::size_t count = first.sentences.size();
  const auto bleu_of = [&options](const EvaluatedTexts& texts) {
    return score_of_sums(texts.sentences, [&options](const BleuCounts& sum) { return bleu(sum, options.bleu).score; });
  };
  if (system.measured.empty())
    system.against_first = paired_bootstrap(bleu_of(first), bleu_of(system), count, options.draws);
  for (std::size_t i = 0; i < system.measured.size(); ++i)
    system.measured[i].against_first =
        paired_bootstrap(first.measured[i].score, system.measured[i].score, count, options.draws);
}

void check(const TextEvaluationOptions& options) {
  const std::size_t systems = options.outputs.size() + options.models.size();
  require(systems > 0 || !options.alignments.empty(),
          "[evaluate] give translations with --reference, or --alignment with --gold");
  require((systems == 0) == options.references.empty(),
          "[evaluate] translations are evaluated against --reference; there are {} and {}", systems,
          options.references.size());
  require(options.models.empty() || !options.source.empty(), "[evaluate] --model needs --source to translate");
  require(options.names.empty() || options.names.size() == systems, "[evaluate] {} names for {} translations",
          options.names.size(), systems);
  require(options.alignments.empty() || !options.gold.empty(), "[evaluate] --alignment and --gold go together");
  require(options.gold.empty() || !options.alignments.empty() || !options.models.empty(),
          "[evaluate] --alignment and --gold go together");
  require(!options.significance || (systems > 1 && options.draws > 0),
          "[evaluate] --significance compares at least two translations, by at least one of --draws");
  require(options.metrics.empty() || systems > 0, "[evaluate] --metrics are about translations; there are none");
}

}  // namespace

TextEvaluation evaluate_texts(const TextEvaluationOptions& options, const std::string& version,
                              const Runner::Warn& warn) {
  check(options);
  TextEvaluation evaluation;
  evaluation.draws = options.draws;
  evaluation.significance = options.significance;
  for (const std::string& name : options.metrics) {
    evaluation.metrics.push_back(
        text_metric_named(name, {options.bleu, options.chrf, options.rouge, options.fold_phones}));
    evaluation.signatures.push_back(evaluation.metrics.back().signature(options.references.size()) + version);
  }
  evaluation.bleu_signature = bleu_signature(options.references.size(), options.bleu) + version;
  evaluation.chrf_signature = chrf_signature(options.references.size(), options.chrf) + version;
  evaluation.chrf_name = chrf_name(options.chrf);
  const Gold gold = read_gold(options);
  evaluation.alignments = evaluate_alignments(options, gold);
  if (options.references.empty()) return evaluation;
  const NamedLines first = read_lines(options.references.front());
  Measures measures{options, evaluation.metrics, {}, {}};
  for (const std::string& line : first.lines) measures.references.push_back({line});
  for (std::size_t k = 1; k < options.references.size(); ++k) {
    const NamedLines other = read_lines_like(options.references[k], first);
    for (std::size_t i = 0; i < other.lines.size(); ++i) measures.references[i].push_back(other.lines[i]);
  }
  if (!options.source.empty()) measures.sources = read_lines_like(options.source, first).lines;

  std::vector<EvaluatedTexts>& systems = evaluation.systems;
  const auto named = [&](const std::string& own) {
    return options.names.empty() ? own : options.names[systems.size()];
  };
  for (const std::string& path : options.outputs) {
    const NamedLines file = read_lines_like(path, first);
    systems.push_back(measures.of(named(file.name), file.lines));
  }
  for (const std::string& folder : options.models)
    evaluate_model(folder, named(folder), measures, gold, warn, evaluation);
  for (std::size_t k = 1; options.significance && k < systems.size(); ++k)
    test_against(systems[0], systems[k], options);
  return evaluation;
}

std::string TextEvaluation::text() const {
  std::string text = systems.empty() ? "" : metrics.empty() ? systems_text(*this) : measured_text(*this);
  if (!systems.empty() && !alignments.empty()) text += "\n";
  return alignments.empty() ? text : text + alignments_text(alignments);
}

std::string TextEvaluation::json() const {
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < metrics.size(); ++i) json["signatures"][metrics[i].name] = signatures[i];
  if (!systems.empty() && metrics.empty()) {
    json["bleu_signature"] = bleu_signature;
    json["chrf_signature"] = chrf_signature;
    json["chrf_name"] = chrf_name;
  }
  for (const EvaluatedTexts& system : systems) {
    nlohmann::ordered_json each = {{"name", system.name}};
    if (metrics.empty())
      each.update({{"bleu", system.bleu.score},
                   {"precisions", system.bleu.precisions},
                   {"brevity_penalty", system.bleu.brevity_penalty},
                   {"length_ratio", length_ratio(system.bleu)},
                   {"chrf", system.chrf}});
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const auto& [score, of_all, interval, against_first] = system.measured[i];
      nlohmann::ordered_json& one = each[metrics[i].name];
      one["score"] = of_all;
      if (interval) one["low"] = interval->low, one["high"] = interval->high;
      if (against_first) one["against_first"] = json_of(*against_first);
    }
    if (const auto& model = system.model) {
      each["perplexity"] = model->perplexity;
      each["sentences_per_second"] = model->samples_per_second;
      each["words_per_second"] = model->words_per_second;
    }
    if (const auto& test = system.against_first) each["against_first"] = json_of(*test);
    for (const LengthBucket& bucket : system.by_length)
      each["by_length"].push_back({{"shortest", bucket.shortest},
                                   {"longest", bucket.longest},
                                   {"sentences", bucket.sentences},
                                   {"bleu", bucket.bleu.score}});
    json["systems"].push_back(each);
  }
  for (const EvaluatedAlignment& each : alignments)
    json["alignments"].push_back({{"name", each.name},
                                  {"aer", each.counts.error_rate()},
                                  {"precision", each.counts.precision()},
                                  {"recall", each.counts.recall()}});
  return json.dump(2) + "\n";
}

// Each bucket stands at its middle.
std::string TextEvaluation::draw_by_length() const {
  LinePlot plot{.title = "BLEU by sentence length",
                .x_label = "words of the source",
                .y_label = "BLEU",
                .series = {},
                .from_zero = true};
  for (const EvaluatedTexts& system : systems) {
    LinePlot::Series& series = plot.series.emplace_back(LinePlot::Series{system.name, {}});
    for (const LengthBucket& bucket : system.by_length)
      series.points.emplace_back(static_cast<double>(bucket.shortest + bucket.longest) / 2, bucket.bleu.score);
  }
  return draw_svg(plot);
}

}  // namespace heed
