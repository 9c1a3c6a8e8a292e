#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/spelling.h"
#include "heed/base/threads.h"
#include "heed/cli/attention_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/output.h"
#include "heed/cli/training_flags.h"
#include "heed/jobs/demo.h"

namespace heed::cli {
namespace {

struct DemoCommand {
  std::string job;  // its name or verb
  AttentionChoice attention;
  DemoOptions options;
};

std::vector<std::string> jobs_with_demo() {
  std::vector<std::string> names;
  for (const Job& job : jobs())
    if (job.demo) names.push_back(job.verb);
  return names;
}

const Job& job_of(const std::string& word) {
  if (word.empty()) return default_job();
  for (const Job& job : jobs())
    if (job.demo && (job.name == word || job_of_verb(word) == &job)) return job;
  fail("[demo] there is none for {}{}", word, did_you_mean(word, jobs_with_demo()));
}

void print(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);  // what follows may go to the standard error
}

void run(DemoCommand command) {
  DemoOptions& options = command.options;
  options.job = &job_of(command.job);
  require(options.steps >= 0 && options.samples >= 0, "--steps and --pairs cannot be negative");
  check_folder(options.output);
  limit_threads(options.threads);
  if (demo_has_option(*options.job, "score")) {
    options.training = command.attention.options();
    if (const Index longest = options.job->demo->longest; longest > 0)
      options.training.push_back({"longest", fmt::format("{}", longest), "demo"});
    print(fmt::format("A small model with {} learns {}.", command.attention.text(), options.job->name));
  }
  const int signal = run_demo(options, print, say);
  if (signal != 0) throw Exit{128 + signal};
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("demo", "Train a small model on generated samples and show where it looks (a minute or two)");
  const auto options = std::make_shared<DemoCommand>();
  command->add_option(
      "job", options->job,
      fmt::format("Job to show: {} (default: {})", fmt::join(jobs_with_demo(), ", "), default_job().verb));
  add_attention_flags(*command, options->attention);
  command
      ->add_option("--output,-o", options->options.output,
                   "Folder for the corpus and the model; what is there is used again")
      ->capture_default_str();
  command
      ->add_option("--pairs,--samples", options->options.samples,
                   "Size of the generated corpus (0: the demo's own number)")
      ->capture_default_str();
  command->add_option("--steps", options->options.steps, "Training steps (0: the demo's own number)")
      ->capture_default_str();
  command->add_option("--seed", options->options.seed, "Seed of corpus and weights")->capture_default_str();
  command->add_option("--threads", options->options.threads, "Worker threads (0: all)")->capture_default_str();
  command->footer(
      "Examples:\n  heed demo\n  heed demo --attention luong-general --output general\n"
      "  heed demo --normaliser sparsemax --output sparse");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
