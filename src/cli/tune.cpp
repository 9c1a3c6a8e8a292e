#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/cli/output_flags.h"
#include "heed/cli/sample_flags.h"
#include "heed/cli/training_flags.h"
#include "heed/jobs/quality.h"
#include "heed/jobs/training.h"
#include "heed/jobs/tuning.h"

namespace heed::cli {
namespace {

struct TuneCommand {
  std::string model;
  std::string documents;
  SampleFlags samples;
  TuningOptions options;
  RerankingOptions reranking;
};

// Those that the reader was trained on, unless others are named.
std::vector<std::string> read_documents(const TuneCommand& command, const Job& job) {
  const SampleFiles files = command.documents.empty() ? training_of_folder(command.model).training_files()
                                                      : SampleFiles{.files = parse_list(command.documents)};
  for (const std::string& file : files.files)
    require(std::filesystem::exists(file) || !command.documents.empty(),
            "{}: the model was trained on it, and it is not there; --documents names it or another", file);
  std::vector<std::string> documents;
  Samples samples(files, job.sample_columns());
  for (Sample sample; samples.next(sample);)
    if (documents.empty() || documents.back() != sample.inputs.front().text)
      documents.push_back(std::move(sample.inputs.front().text));
  return documents;
}

void tune_reader(const TuneCommand& command, const ModelFolder& folder, const Job& job, const TestSet& known) {
  RerankingOptions options = command.reranking;
  options.best = command.options.best;
  const TunedReranking tuned =
      tune_reranking(command.model, known.samples, read_documents(command, job), options, command.options.threads, say);
  tuned.reranking.save(folder);
  fmt::print("Right answers: {:.2f} % before, {:.2f} % after; {:.2f} % have theirs among the {} best\n", tuned.before,
             tuned.after, tuned.possible, options.best);
  for (std::size_t k = 0; k < Reranking::kCount; ++k)
    fmt::print("{:<10} {:.4f}\n", Reranking::kNames[k], tuned.reranking.weights()[k]);
}

void run(const TuneCommand& command) {
  limit_threads(command.options.threads);
  const ModelFolder folder(command.model);
  const Job& job = job_named(folder.job());
  const TestSet known = read_test_set(job, command.samples.files(job));
  if (job.gives_choice()) return tune_reader(command, folder, job, known);
  const Tuned tuned = tune_extractive(command.model, known.samples, command.options, say);
  write_extractive(folder, tuned.weights);
  fmt::print("Mean of ROUGE-1, 2 and L of the chosen outputs: {:.2f} before, {:.2f} after\n", tuned.before,
             tuned.after);
  for (std::size_t k = 0; k < tuned.weights.size(); ++k)
    fmt::print("{:<10} {:.4f}\n", ExtractiveFeatures::kNames[k], tuned.weights[k]);
}

}  // namespace

void add_tune(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune",
                                         "Find how much a summariser gains by words that stand in its text (ABS+), or "
                                         "a reader by language models, and keep "
                                         "it in its folder");
  const auto options = std::make_shared<TuneCommand>();
  command->add_option("model", options->model, "Model folder")->required()->type_name("MODEL");
  options->samples.add_tables(*command);
  options->samples.add_lines(*command);
  command->add_option("--n-best", options->options.best, "Outputs of each sample to choose from")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--rounds", options->options.rounds, "Searches, each with the weights found so far")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--documents", options->documents,
                   "Files of samples whose documents a reader's language models learn, separated by commas (default: "
                   "those of its training)")
      ->type_name("FILES");
  command->add_option("--order", options->reranking.order, "Words of a reader's longest n-grams")
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  command->add_option("--classes", options->reranking.classes, "Classes of words of a reader's third language model")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_length_flags(*command, options->options.run);
  command->add_option("--threads", options->options.threads, "Threads (0: all)")->capture_default_str();
  command->footer(
      "Words get a bonus if they stand in the text, with the word before them, with both before them, or if the\n"
      "word before them stands behind them there (Rush et al. 2015). The weights are found by minimum error rate\n"
      "training (Och 2003) on ROUGE. The best answers of a reader are put into the blank, and n-gram models of all\n"
      "documents, of the one that was read and of classes of words say how well they fit there (Cui et al. 2017);\n"
      "the weights are found on the right answers. Samples of the validation are best, since weights need not fit\n"
      "the test.\n\n"
      "Examples:\n  heed tune my-summariser --data valid.tsv\n  heed tune my-reader --data valid.jsonl");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
