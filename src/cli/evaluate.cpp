#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/cli/output.h"
#include "heed/cli/sample_flags.h"
#include "heed/jobs/quality.h"
#include "heed/jobs/text_evaluation.h"

namespace heed::cli {
namespace {

struct EvaluateOptions {
  TextEvaluationOptions texts;
  SampleFlags samples;
  std::string figure, tokens = "13a", smoothing = "exp";
  bool json = false;
};

void warn(const std::string& line) { fmt::print(stderr, "warning: {}\n", line); }

// The metrics of the job on samples, for each model.
void evaluate_samples(const EvaluateOptions& options) {
  require(!options.texts.models.empty(), "[evaluate] --data needs --model to run on it");
  require(options.texts.outputs.empty() && options.texts.references.empty() && options.texts.source.empty(),
          "[evaluate] --data takes the place of --source, --reference and texts");
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < options.texts.models.size(); ++i) {
    const std::string& folder = options.texts.models[i];
    Runner runner({folder}, options.texts.threads, warn);
    const TestSet test = read_test_set(runner.job(), options.samples.files(runner.job()), options.texts.gold);
    if (!test.report.empty()) warn(test.report);
    const Quality quality = measure_quality(runner, test, options.texts.run);
    nlohmann::ordered_json one{{"model", folder}, {"job", runner.job().name}, {"samples", test.samples.size()}};
    std::vector<std::string> outputs;
    for (const Result& output : quality.outputs) outputs.push_back(output.text);
    std::string head = fmt::format("{:<20} {:>8}", "model", "samples"),
                row = fmt::format("{:<20} {:>8}", folder, test.samples.size());
    const auto add = [&](const std::string& title, const std::string& name, double value, int digits) {
      const std::size_t width = std::max<std::size_t>(title.size(), 8);
      head += fmt::format("  {:>{}}", title, width);
      row += fmt::format("  {:>{}.{}f}", value, width, digits);
      one[name] = value;
    };
    for (const auto& [metric, value] : quality.metrics) add(metric->title, metric->name, value, metric->digits);
    add("cross-entropy", "cross_entropy", quality.cross_entropy, 3);
    add("perplexity", "perplexity", std::exp(quality.cross_entropy), 3);
    if (quality.alignment) add("AER", "aer", quality.alignment->error_rate(), 4);
    if (quality.gold) {
      add("gold share", "gold_share", quality.gold->share, 3);
      add("if uniform", "uniform_gold_share", quality.gold->uniform, 3);
    }
    if (quality.entropy) add("entropy", "attention_entropy", *quality.entropy, 3);
    add("samples/s", "samples_per_second", quality.samples_per_second, 1);
    const std::string report = runner.job().report ? runner.job().report(outputs, test.samples) : "";
    if (!options.json) fmt::print("{}{}\n{}{}", i == 0 ? head + "\n" : "", row, report.empty() ? "" : "\n", report);
    all.push_back(std::move(one));
  }
  if (options.json) fmt::print("{}\n", nlohmann::ordered_json{{"models", all}}.dump(2));
}

void run(EvaluateOptions options) {
  limit_threads(options.texts.threads);
  if (options.samples.given()) return evaluate_samples(options);
  options.texts.bleu.tokens = bleu_tokens_named(options.tokens);
  options.texts.bleu.smoothing = bleu_smoothing_named(options.smoothing);
  options.texts.chrf.lowercase = options.texts.bleu.lowercase;
  require(options.figure.empty() || !options.texts.source.empty(), "[evaluate] --by-length needs --source");
  require(!is_standard_output(options.figure) || !options.json,
          "standard output: it can take --by-length or --json, not both");
  const TextEvaluation evaluation = evaluate_texts(options.texts, "|version:heed-" HEED_VERSION, warn);
  if (!options.figure.empty()) write_output(options.figure, evaluation.draw_by_length());
  if (is_standard_output(options.figure)) return;
  fmt::print("{}", options.json ? evaluation.json() : evaluation.text());
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Measure models on samples, texts by BLEU and chrF, and alignments by AER");
  const auto options = std::make_shared<EvaluateOptions>();
  const auto one = [](CLI::Option* option) { return option->allow_extra_args(false); };
  command->add_option("translations", options->texts.outputs,
                      "Files of texts to measure, one per line ('-': standard input)");
  one(command->add_option("-m,--model", options->texts.models,
                          "Model folder to run on --data or --source; may be repeated"));
  SearchOptions& search = options->texts.run.search.options;
  command->add_option("-b,--beam", search.beam, "Hypotheses in the beam of --model")->capture_default_str();
  command->add_option("--length-penalty", search.length_penalty, "Length penalty of the beam of --model")
      ->capture_default_str();
  command->add_option("--threads", options->texts.threads, "Threads of --model (0: all)")->capture_default_str();
  one(command->add_option("-r,--reference", options->texts.references,
                          "File of reference texts, one per line; may be repeated"));
  one(command->add_option("--name", options->texts.names,
                          "Name to show for each of the texts and models, in order; may be repeated"));
  command->add_option("-s,--source", options->texts.source,
                      "File of source texts, one per line; adds a table of BLEU by their length");
  command->add_option("--by-length", options->figure, "Draw BLEU by length into this SVG file ('-': standard output)");
  command->add_option("--bucket", options->texts.bucket, "Range of lengths in each row of the table by length")
      ->capture_default_str();
  command->add_option("--tokenize", options->tokens, "BLEU's tokens: 13a, none, char")->capture_default_str();
  command->add_flag("--lowercase", options->texts.bleu.lowercase, "Ignore case");
  command->add_option("--smoothing", options->smoothing, "Smoothing of BLEU: exp, floor, add-k, none")
      ->capture_default_str();
  command->add_option("--smoothing-value", options->texts.bleu.smoothing_value,
                      "Value for the smoothing: floor (default 0.1) or add-k (default 1)");
  command->add_option("--chrf-words", options->texts.chrf.words, "Longest word n-grams in chrF (2: chrF++)")
      ->capture_default_str();
  command->add_flag("--significance", options->texts.significance,
                    "Test each against the first by paired bootstrap resampling");
  command->add_option("--draws", options->texts.draws, "Draws of the significance test")->capture_default_str();
  one(command->add_option("-a,--alignment", options->texts.alignments,
                          "File of word alignments to measure, with lines like '0-0 1-2'; may be repeated"));
  command->add_option("--gold", options->texts.gold,
                      "File of gold alignments for --alignment or --model; 1?2 or 1p2 is a possible link");
  command->add_option("--gold-first", options->texts.gold_first, "Number of the first word in --gold: 0 or 1")
      ->check(CLI::IsMember({0, 1}))
      ->capture_default_str();
  command
      ->add_option("--alignment-first", options->texts.alignment_first,
                   "Number of the first word in --alignment: 0 or 1")
      ->check(CLI::IsMember({0, 1}))
      ->capture_default_str();
  options->samples.add_tables(*command);
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->footer(
      "BLEU and chrF are those of sacreBLEU. Files may be packed with gzip, xz, zstd or lz4.\n\n"
      "Examples:\n"
      "  heed evaluate --model my-model --data test.tsv\n"
      "  heed evaluate --reference test.de output.de\n"
      "  heed evaluate -r test.de rnn.de transformer.de --significance\n"
      "  heed evaluate -r test.de --source test.en --by-length figure.svg rnn.de transformer.de\n"
      "  heed evaluate --model my-model --source test.en --reference test.de\n"
      "  heed evaluate --alignment output.align --gold test.align --gold-first 1");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
