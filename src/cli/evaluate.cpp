#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/base/utf8.h"
#include "heed/cli/align_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/output_flags.h"
#include "heed/cli/output.h"
#include "heed/cli/sample_flags.h"
#include "heed/explain/glyphs.h"
#include "heed/explain/png.h"
#include "heed/jobs/sample_evaluation.h"
#include "heed/jobs/text_evaluation.h"

namespace heed::cli {
namespace {

struct EvaluateOptions {
  TextEvaluationOptions texts;
  SampleFlags samples;
  std::string figure, tokens = "13a", smoothing = "exp", confusion, results, features, eraser, rationales;
  bool json = false, count_unknown = false, trust = false;
  Index trusted = 200;
};

void warn(const std::string& line) { fmt::print(stderr, "warning: {}\n", line); }

// The metrics of the job on samples, for each model.
void evaluate_data(const EvaluateOptions& options) {
  const TextEvaluationOptions& texts = options.texts;
  require(texts.outputs.empty() && texts.references.empty() && texts.source.empty(),
          "[evaluate] --data takes the place of --source, --reference and texts");
  require(texts.metrics.empty() && !texts.rouge.stem && texts.rouge.bytes == 0 && !texts.rouge.pooled,
          "[evaluate] --metrics, --stem, --bytes and --pooled are about files of texts; of --data the model's job says "
          "what is measured");
  const std::string ending = std::filesystem::path(options.confusion).extension().string();
  require(options.confusion.empty() || ending == ".svg" || ending == ".png",
          "{}: a drawing's name ends in .svg or .png", options.confusion);
  const SampleEvaluation evaluation =
      evaluate_samples({.models = texts.models,
                        .files = [&options](const Job& job) { return options.samples.files(job); },
                        .gold = options.eraser.empty() ? texts.gold : options.eraser,
                        .gold_first = texts.gold_first,
                        .unknown_labels = options.count_unknown ? UnknownLabels::count : UnknownLabels::refuse,
                        .draws = texts.draws,
                        .confusion = !options.confusion.empty(),
                        .significance = texts.significance,
                        .results = !options.results.empty(),
                        .annotations = options.eraser,
                        .features = options.features,
                        .trust = options.trust ? std::optional(options.trusted) : std::nullopt,
                        .run = texts.run,
                        .settings = texts.settings,
                        .threads = texts.threads},
                       warn);
  if (!options.results.empty()) write_output(options.results, evaluation.models.front().results);
  if (!options.confusion.empty()) {
    const std::string drawing = evaluation.draw_confusion();
    write_output(options.confusion, ending == ".png" ? draw_png(drawing) : drawing);
    if (const std::string missing = ending == ".png" ? missing_glyphs(drawing) : ""; !missing.empty())
      warn(fmt::format("{}: no font of this system has {}; there are boxes in their place", options.confusion,
                       displayed(missing)));
  }
  if (!options.rationales.empty())
    write_output(options.rationales, eraser_lines(evaluation.models.front().rationales->predictions));
  if (is_standard_output(options.rationales)) return;
  fmt::print("{}", options.json ? evaluation.json() : evaluation.text());
}

// ERASER's annotations are the samples, and say what decides.
void take_annotations(EvaluateOptions& options) {
  require(options.rationales.empty() || !options.eraser.empty(),
          "[evaluate] --rationales are of the annotations that --eraser names");
  if (options.eraser.empty()) return;
  require(!options.samples.given() && options.texts.gold.empty(),
          "[evaluate] --eraser takes the place of --data and --gold");
  require(options.rationales.empty() || options.texts.models.size() == 1,
          "[evaluate] --rationales are of one model, not {}", options.texts.models.size());
  options.samples.data = options.eraser;
  options.samples.format = "eraser";
}

void run(EvaluateOptions options) {
  limit_threads(options.texts.threads);
  take_annotations(options);
  if (options.samples.given()) return evaluate_data(options);
  require(options.confusion.empty(), "[evaluate] --confusion is about labels, which are in --data");
  require(!options.trust, "[evaluate] --trust is about a model that looks at samples: give --model and --data");
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
  CLI::App* command = app.add_subcommand(
      "evaluate", "Measure models on samples, texts by BLEU and other metrics, and alignments by AER");
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
  add_length_flags(*command, options->texts.run);
  add_rerank_flag(*command, options->texts.run);
  add_setting_flags(*command, options->texts.settings);
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
  command
      ->add_option(
          "--metrics", options->texts.metrics,
          "Metrics to show instead, with intervals: bleu, chrf, rouge1 .. rouge9, rougeL, rougeLsum, wer, cer, "
          "per, bleu1 .. bleu4, coco-rouge, cider, cider-d")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--stem", options->texts.rouge.stem, "Compare the stems of English words in ROUGE");
  command->add_option("--bytes", options->texts.rouge.bytes, "Bytes of each text that ROUGE compares (0: all)")
      ->capture_default_str();
  command->add_flag("--pooled", options->texts.rouge.pooled,
                    "Count all references together in ROUGE, not the best one");
  command->add_flag("--fold-phones", options->texts.fold_phones, "Fold TIMIT's 61 phones to 39 in PER");
  command->add_flag("--significance", options->texts.significance,
                    "Test each against the first by paired bootstrap resampling");
  command
      ->add_option("--draws", options->texts.draws,
                   "Draws of the significance test, and of the intervals of --metrics and --data (0: no intervals)")
      ->capture_default_str();
  one(command->add_option("-a,--alignment", options->texts.alignments,
                          "File of word alignments to measure, with lines like '0-0 1-2'; may be repeated"));
  command->add_option("--gold", options->texts.gold,
                      "File of gold alignments for --alignment or --model; 1?2 or 1p2 is a possible link");
  add_gold_first(*command, options->texts.gold_first);
  command
      ->add_option("--alignment-first", options->texts.alignment_first,
                   "Number of the first word in --alignment: 0 or 1")
      ->check(CLI::IsMember({0, 1}))
      ->capture_default_str();
  options->samples.add_tables(*command);
  command->add_option(
      "--results", options->results,
      "Write the outputs for --data into this file, in the form of the field's own tool (captions: COCO's "
      "JSON)");
  command->add_option("--confusion", options->confusion,
                      "Draw which labels of --data are taken for which into this file (.svg or .png)");
  command->add_option("--features", options->features,
                      "File that keeps the features of pictures for other evaluations and trainings too");
  command->add_option("--eraser", options->eraser,
                      "ERASER's annotations to run --model on instead of --data, with docs.jsonl or docs beside them: "
                      "compares what the model looks at with what people say");
  command->add_option("--rationales", options->rationales,
                      "Write what decided, as ERASER's predictions, into this file ('-': standard output)");
  command->add_flag("--trust", options->trust,
                    "Measure whether the weights of --model are the reason for what it gives, beside random weights");
  command->add_option("--trust-samples", options->trusted, "Samples of --trust, evenly spread (0: all)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--unknown-labels", [options](const std::string& word) { options->count_unknown = word == "count"; },
          "What to do with labels of --data that the model does not know: refuse, count (as wrong)")
      ->check(CLI::IsMember({"refuse", "count"}))
      ->default_str("refuse");
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->footer(
      "BLEU and chrF are those of sacreBLEU, ROUGE is the F of rouge-score, WER and CER are those of jiwer, and the\n"
      "metrics of captions (bleu1 .. cider-d) are those of pycocoevalcap. Files may be packed with gzip, xz, zstd or "
      "lz4.\n\n"
      "Examples:\n"
      "  heed evaluate --model my-model --data test.tsv\n"
      "  heed evaluate --model my-classifier --data test.tsv --confusion confusion.svg\n"
      "  heed evaluate --model my-classifier --data test.tsv --trust\n"
      "  heed evaluate --model my-classifier --eraser movies/test.jsonl --rationales predictions.jsonl\n"
      "  heed evaluate --reference test.de output.de\n"
      "  heed evaluate -r test.de rnn.de transformer.de --significance\n"
      "  heed evaluate -r summaries.txt output.txt --metrics rouge1,rouge2,rougeL --stem\n"
      "  heed evaluate -r test.de --source test.en --by-length figure.svg rnn.de transformer.de\n"
      "  heed evaluate --model my-model --source test.en --reference test.de\n"
      "  heed evaluate --alignment output.align --gold test.align --gold-first 1");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
