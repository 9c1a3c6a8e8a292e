#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/data/text_file.h"
#include "heed/explain/plot.h"
#include "heed/metrics/aer.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/bootstrap.h"
#include "heed/metrics/by_length.h"
#include "heed/metrics/chrf.h"
#include "heed/jobs/translation_test_set.h"

namespace heed::cli {
namespace {

struct EvaluateOptions {
  std::vector<std::string> translations, models, references, names, alignments;
  std::string source, gold, figure;
  Index bucket = 10, gold_first = 0, alignment_first = 0, draws = 1000;
  std::string tokens = "13a", smoothing = "exp";
  BleuOptions bleu;
  ChrfOptions chrf;
  bool significance = false, json = false;
  TranslatorOptions translator;
};

// What only a model itself can tell.
struct EvaluatedModel {
  double perplexity = 0;  // a piece of the references
  double sentences_per_second = 0, words_per_second = 0;
};

struct EvaluatedSystem {
  std::string name;
  std::vector<BleuCounts> sentences;
  Bleu bleu;
  double chrf = 0;
  std::vector<LengthBucket> by_length;           // with a source
  std::optional<PairedBootstrap> against_first;  // of all but the first
  std::optional<EvaluatedModel> model;
};

struct EvaluatedAlignment {
  std::string name;
  AlignmentCounts counts;
};

struct Evaluation {
  std::vector<EvaluatedSystem> systems;
  std::vector<EvaluatedAlignment> alignments;
};

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

Gold read_gold(const EvaluateOptions& options) {
  Gold gold;
  if (options.gold.empty()) return gold;
  gold.file = read_lines(options.gold);
  for (std::size_t i = 0; i < gold.file.lines.size(); ++i)
    gold.links.push_back(parse_numbered(gold.file, i, options.gold_first));
  return gold;
}

std::vector<EvaluatedAlignment> evaluate_alignments(const EvaluateOptions& options, const Gold& gold) {
  std::vector<EvaluatedAlignment> alignments;
  for (const std::string& path : options.alignments) {
    const NamedLines file = read_lines_like(path, gold.file);
    EvaluatedAlignment& each = alignments.emplace_back(EvaluatedAlignment{file.name, {}});
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      each.counts += compare_alignment(parse_numbered(file, i, options.alignment_first), gold.links[i]);
  }
  return alignments;
}

// Everything that translations are measured against.
struct Measures {
  const EvaluateOptions& options;
  std::vector<std::vector<std::string>> references;  // all of each sentence
  std::vector<std::string> sources;                  // empty if not given

  EvaluatedSystem of(std::string name, std::span<const std::string> lines) const {
    EvaluatedSystem system;
    system.name = std::move(name);
    BleuCounts sum;
    for (std::size_t i = 0; i < lines.size(); ++i)
      sum += system.sentences.emplace_back(bleu_counts(lines[i], references[i], options.bleu));
    system.bleu = bleu(sum, options.bleu);
    system.chrf = corpus_chrf(lines, references, options.chrf);
    std::vector<Index> lengths;
    for (const std::string& line : sources) lengths.push_back(static_cast<Index>(split_words(line).size()));
    if (!lengths.empty()) system.by_length = bleu_by_length(lengths, system.sentences, options.bucket, options.bleu);
    return system;
  }
};

// Translates with a model, and lets it read the references.
void evaluate_model(const std::string& folder, const std::string& name, const Measures& measures, const Gold& gold,
                    Evaluation& evaluation) {
  const auto warn = [](const std::string& line) { fmt::print(stderr, "warning: {}\n", line); };
  Translator translator({folder}, measures.options.translator, warn);
  TranslationTestSet test{measures.sources, {}, gold.links};
  for (const std::vector<std::string>& each : measures.references) test.references.push_back(each.front());
  const TranslationQuality quality = measure_translation(translator, test);
  std::vector<std::string> lines;
  std::size_t words = 0;
  for (const Translation& translation : quality.translations) {
    lines.push_back(translation.text);
    words += split_words(translation.text).size();
  }
  EvaluatedSystem& system = evaluation.systems.emplace_back(measures.of(name, lines));
  const double per_sentence = static_cast<double>(words) / static_cast<double>(lines.size());
  system.model = {std::exp(quality.cross_entropy), quality.sentences_per_second,
                  quality.sentences_per_second * per_sentence};
  if (quality.alignment) evaluation.alignments.push_back({name, *quality.alignment});
}

Evaluation evaluate_all(const EvaluateOptions& options) {
  Evaluation evaluation;
  const Gold gold = read_gold(options);
  evaluation.alignments = evaluate_alignments(options, gold);
  if (options.references.empty()) return evaluation;
  const NamedLines first = read_lines(options.references.front());
  Measures measures{options, {}, {}};
  for (const std::string& line : first.lines) measures.references.push_back({line});
  for (std::size_t k = 1; k < options.references.size(); ++k) {
    const NamedLines other = read_lines_like(options.references[k], first);
    for (std::size_t i = 0; i < other.lines.size(); ++i) measures.references[i].push_back(other.lines[i]);
  }
  if (!options.source.empty()) measures.sources = read_lines_like(options.source, first).lines;

  std::vector<EvaluatedSystem>& systems = evaluation.systems;
  const auto named = [&](const std::string& own) {
    return options.names.empty() ? own : options.names[systems.size()];
  };
  for (const std::string& path : options.translations) {
    const NamedLines file = read_lines_like(path, first);
    systems.push_back(measures.of(named(file.name), file.lines));
  }
  for (const std::string& folder : options.models) evaluate_model(folder, named(folder), measures, gold, evaluation);
  for (std::size_t k = 1; options.significance && k < systems.size(); ++k)
    systems[k].against_first =
        paired_bootstrap(systems[0].sentences, systems[k].sentences, options.draws, 1, options.bleu);
  return evaluation;
}

std::string bleu_line(const EvaluateOptions& options) {
  return bleu_signature(options.references.size(), options.bleu) + "|version:heed-" HEED_VERSION;
}
std::string chrf_line(const EvaluateOptions& options) {
  return chrf_signature(options.references.size(), options.chrf) + "|version:heed-" HEED_VERSION;
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

void print_models(const std::vector<EvaluatedSystem>& systems, std::size_t width) {
  const auto is_model = [](const EvaluatedSystem& system) { return system.model.has_value(); };
  if (std::none_of(systems.begin(), systems.end(), is_model)) return;
  fmt::print("\n{:<{}}  perplexity  sentences/s  words/s\n", "model", width);
  for (const EvaluatedSystem& system : systems)
    if (const auto& model = system.model)
      fmt::print("{:<{}}  {:10.3f}  {:11.1f}  {:7.0f}\n", system.name, width, model->perplexity,
                 model->sentences_per_second, model->words_per_second);
}

void print_translations(const EvaluateOptions& options, const std::vector<EvaluatedSystem>& systems) {
  const std::size_t width = widest_name(systems, 6);
  const std::string chrf = chrf_name(options.chrf);
  fmt::print("{:<{}}  {:>6}   {:<23}  brevity  length  {:>7}\n", "system", width, "BLEU", "precisions 1-4", chrf);
  for (const EvaluatedSystem& system : systems) {
    const auto& p = system.bleu.precisions;
    fmt::print("{:<{}}  {:6.2f}   {:<23}  {:7.3f}  {:6.3f}  {:7.2f}\n", system.name, width, system.bleu.score,
               fmt::format("{:.1f}/{:.1f}/{:.1f}/{:.1f}", p[0], p[1], p[2], p[3]), system.bleu.brevity_penalty,
               length_ratio(system.bleu), system.chrf);
  }
  fmt::print("{:<{}}  {}\n{}  {}\n", "BLEU", chrf.size(), bleu_line(options), chrf, chrf_line(options));
  if (options.significance) {
    fmt::print("\nAgainst {}, by {} paired draws:\n", systems[0].name, options.draws);
    for (std::size_t k = 1; k < systems.size(); ++k) {
      const PairedBootstrap& test = *systems[k].against_first;
      fmt::print("{:<{}}  {:+.2f} BLEU, 95 % within {:+.2f} .. {:+.2f}, p = {:.4f}\n", systems[k].name, width,
                 test.difference, test.low, test.high, test.p_value);
    }
  }
  print_models(systems, width);
  if (systems[0].by_length.empty()) return;
  fmt::print("\nBLEU by source length:\n{:<12}  {:>9}", "words", "sentences");
  for (const EvaluatedSystem& system : systems)
    fmt::print("  {:>{}}", system.name, std::max<std::size_t>(6, system.name.size()));
  fmt::print("\n");
  for (std::size_t row = 0; row < systems[0].by_length.size(); ++row) {
    const LengthBucket& bucket = systems[0].by_length[row];
    fmt::print("{:<12}  {:>9}", fmt::format("{}-{}", bucket.shortest, bucket.longest), bucket.sentences);
    for (const EvaluatedSystem& system : systems)
      fmt::print("  {:>{}.2f}", system.by_length[row].bleu.score, std::max<std::size_t>(6, system.name.size()));
    fmt::print("\n");
  }
}

void print_alignments(const std::vector<EvaluatedAlignment>& alignments) {
  const std::size_t width = widest_name(alignments, 9);
  fmt::print("{:<{}}     AER  precision  recall\n", "alignment", width);
  for (const EvaluatedAlignment& each : alignments)
    fmt::print("{:<{}}  {:6.4f}     {:6.4f}  {:6.4f}\n", each.name, width, each.counts.error_rate(),
               each.counts.precision(), each.counts.recall());
}

void print_json(const EvaluateOptions& options, const Evaluation& evaluation) {
  nlohmann::ordered_json json;
  if (!evaluation.systems.empty()) {
    json["bleu_signature"] = bleu_line(options);
    json["chrf_signature"] = chrf_line(options);
    json["chrf_name"] = chrf_name(options.chrf);
  }
  for (const EvaluatedSystem& system : evaluation.systems) {
    nlohmann::ordered_json each = {{"name", system.name},
                                   {"bleu", system.bleu.score},
                                   {"precisions", system.bleu.precisions},
                                   {"brevity_penalty", system.bleu.brevity_penalty},
                                   {"length_ratio", length_ratio(system.bleu)},
                                   {"chrf", system.chrf}};
    if (const auto& model = system.model) {
      each["perplexity"] = model->perplexity;
      each["sentences_per_second"] = model->sentences_per_second;
      each["words_per_second"] = model->words_per_second;
    }
    if (const auto& test = system.against_first)
      each["against_first"] = {
          {"difference", test->difference}, {"low", test->low}, {"high", test->high}, {"p_value", test->p_value}};
    for (const LengthBucket& bucket : system.by_length)
      each["by_length"].push_back({{"shortest", bucket.shortest},
                                   {"longest", bucket.longest},
                                   {"sentences", bucket.sentences},
                                   {"bleu", bucket.bleu.score}});
    json["systems"].push_back(each);
  }
  for (const EvaluatedAlignment& each : evaluation.alignments)
    json["alignments"].push_back({{"name", each.name},
                                  {"aer", each.counts.error_rate()},
                                  {"precision", each.counts.precision()},
                                  {"recall", each.counts.recall()}});
  fmt::print("{}\n", json.dump(2));
}

// Each bucket stands at its middle.
void draw_figure(const std::string& path, const std::vector<EvaluatedSystem>& systems) {
  LinePlot plot{.title = "BLEU by sentence length",
                .x_label = "words of the source",
                .y_label = "BLEU",
                .series = {},
                .from_zero = true};
  for (const EvaluatedSystem& system : systems) {
    LinePlot::Series& series = plot.series.emplace_back(LinePlot::Series{system.name, {}});
    for (const LengthBucket& bucket : system.by_length)
      series.points.emplace_back(static_cast<double>(bucket.shortest + bucket.longest) / 2, bucket.bleu.score);
  }
  write_file(path, draw_svg(plot));
}

void check(const EvaluateOptions& options) {
  const std::size_t systems = options.translations.size() + options.models.size();
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
  require(options.figure.empty() || !options.source.empty(), "[evaluate] --by-length needs --source");
  require(!options.significance || systems > 1, "[evaluate] --significance compares at least two translations");
}

void run(EvaluateOptions options) {
  check(options);
  options.bleu.tokens = bleu_tokens_named(options.tokens);
  options.bleu.smoothing = bleu_smoothing_named(options.smoothing);
  options.chrf.lowercase = options.bleu.lowercase;
  limit_threads(options.translator.threads);
  const Evaluation evaluation = evaluate_all(options);
  if (!options.figure.empty()) draw_figure(options.figure, evaluation.systems);
  if (options.json) {
    print_json(options, evaluation);
    return;
  }
  if (!evaluation.systems.empty()) print_translations(options, evaluation.systems);
  if (!evaluation.systems.empty() && !evaluation.alignments.empty()) fmt::print("\n");
  if (!evaluation.alignments.empty()) print_alignments(evaluation.alignments);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Measure translations or models by BLEU and chrF, and alignments by AER");
  const auto options = std::make_shared<EvaluateOptions>();
  const auto one = [](CLI::Option* option) { return option->allow_extra_args(false); };
  command->add_option("translations", options->translations,
                      "Translations to measure, one sentence a line (- : stdin)");
  one(command->add_option("-m,--model", options->models,
                          "Model folder: translates --source, and adds perplexity and speed; may be repeated"));
  SearchOptions& search = options->translator.search.options;
  command->add_option("-b,--beam", search.beam, "Hypotheses in the beam of --model")->capture_default_str();
  command->add_option("--length-penalty", search.length_penalty, "Of that beam")->capture_default_str();
  command->add_option("--threads", options->translator.threads, "Threads of --model (0: all)")->capture_default_str();
  one(command->add_option("-r,--reference", options->references, "Right translations, line by line; may be repeated"));
  one(command->add_option("--name", options->names, "What to call a translation, in their order; may be repeated"));
  command->add_option("-s,--source", options->source, "What was translated: adds a table of BLEU by its length");
  command->add_option("--by-length", options->figure, "Draws that table into this SVG file");
  command->add_option("--bucket", options->bucket, "Lengths a row of the table")->capture_default_str();
  command->add_option("--tokenize", options->tokens, "BLEU's tokens: 13a, none, char")->capture_default_str();
  command->add_flag("--lowercase", options->bleu.lowercase, "Compare without regard to case");
  command->add_option("--smoothing", options->smoothing, "Of BLEU: exp, floor, add-k, none")->capture_default_str();
  command->add_option("--smoothing-value", options->bleu.smoothing_value, "For floor (0.1) and add-k (1)");
  command->add_option("--chrf-words", options->chrf.words, "Longest word n-grams of chrF; 2 is chrF++")
      ->capture_default_str();
  command->add_flag("--significance", options->significance,
                    "Tests each translation against the first by paired bootstrap resampling");
  command->add_option("--draws", options->draws, "Draws of that test")->capture_default_str();
  one(command->add_option("-a,--alignment", options->alignments,
                          "Word alignments to measure, lines like '0-0 1-2'; may be repeated"));
  command->add_option("--gold", options->gold, "Right alignments, also for --model; 1?2 or 1p2 is a possible link");
  command->add_option("--gold-first", options->gold_first, "Number of the first word in --gold: 0 or 1")
      ->check(CLI::IsMember({0, 1}))
      ->capture_default_str();
  command->add_option("--alignment-first", options->alignment_first, "Number of the first word in --alignment: 0 or 1")
      ->check(CLI::IsMember({0, 1}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->footer(
      "BLEU and chrF are those of sacreBLEU. Files may be packed by gzip, xz or zstd.\n\n"
      "Examples:\n"
      "  heed evaluate --reference test.de output.de\n"
      "  heed evaluate -r test.de rnn.de transformer.de --significance\n"
      "  heed evaluate -r test.de --source test.en --by-length figure.svg rnn.de transformer.de\n"
      "  heed evaluate --model my-model --source test.en --reference test.de\n"
      "  heed evaluate --alignment output.align --gold test.align --gold-first 1");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
