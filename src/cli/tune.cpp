#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/cli/length_flags.h"
#include "heed/cli/training_flags.h"
#include "heed/cli/sample_flags.h"
#include "heed/jobs/quality.h"
#include "heed/jobs/tuning.h"

namespace heed::cli {
namespace {

struct TuneCommand {
  std::string model;
  SampleFlags samples;
  TuningOptions options;
};

void run(const TuneCommand& command) {
  limit_threads(command.options.threads);
  const ModelFolder folder(command.model);
  const Job& job = job_named(folder.job());
  const TestSet known = read_test_set(job, command.samples.files(job));
  const Tuned tuned = tune_extractive(command.model, known.samples, command.options, say);
  write_extractive(folder, tuned.weights);
  fmt::print("Mean of ROUGE-1, 2 and L of the chosen outputs: {:.2f} before, {:.2f} after\n", tuned.before,
             tuned.after);
  for (std::size_t k = 0; k < tuned.weights.size(); ++k)
    fmt::print("{:<10} {:.4f}\n", ExtractiveFeatures::kNames[k], tuned.weights[k]);
}

}  // namespace

void add_tune(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "tune", "Find how much a summariser gains by words that stand in its text (ABS+), and keep it in its folder");
  const auto options = std::make_shared<TuneCommand>();
  command->add_option("model", options->model, "Model folder")->required()->type_name("MODEL");
  options->samples.add_tables(*command);
  options->samples.add_lines(*command);
  command->add_option("--n-best", options->options.best, "Outputs of each text to choose from")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--rounds", options->options.rounds, "Searches, each with the weights found so far")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_length_flags(*command, options->options.run);
  command->add_option("--threads", options->options.threads, "Threads (0: all)")->capture_default_str();
  command->footer(
      "Words get a bonus if they stand in the text, with the word before them, with both before them, or if the\n"
      "word before them stands behind them there (Rush et al. 2015). The weights are found by minimum error rate\n"
      "training (Och 2003) on ROUGE; samples of the validation are best, since weights need not fit the test.\n\n"
      "Example:\n  heed tune my-model --data valid.tsv");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
