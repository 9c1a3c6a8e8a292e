#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/cli/sample_flags.h"
#include "heed/jobs/runner.h"
#include "heed/metrics/perplexity.h"

namespace heed::cli {
namespace {

constexpr std::size_t kScoredTogether = 1000;

struct ScoreOptions {
  std::vector<std::string> models;
  SampleFlags samples;
  bool summary = false;
  int threads = 0;
};

void run(const ScoreOptions& options) {
  limit_threads(options.threads);
  const std::vector<std::filesystem::path> folders(options.models.begin(), options.models.end());
  Runner runner(folders, options.threads, [](const std::string& line) { fmt::print(stderr, "warning: {}\n", line); });
  const SampleFiles files = options.samples.files(runner.job());
  Samples samples(files, runner.job().sample_columns());
  double total = 0;
  Index words = 0, count = 0;
  for (bool more = true; more;) {
    std::vector<Sample> some;
    Sample sample;
    while (some.size() < kScoredTogether && (more = samples.next(sample))) some.push_back(std::move(sample));
    for (const SampleScore& score : runner.score(some)) {
      total += score.log_probability;
      words += score.words;
      ++count;
      if (!options.summary)
        fmt::print("{:.6g}\t{:.6g}\t{:.6g}\n", score.log_probability,
                   score.log_probability / static_cast<double>(score.words),
                   perplexity(score.log_probability, score.words));
    }
  }
  require(samples.report().left_out() == 0, "{}", samples.report().text());
  require(words > 0, "{}: it is empty", files.files.front());
  fmt::print(options.summary ? stdout : stderr, "{} samples, {} {}, log-probability {:.6g}, perplexity {:.6g}\n", count,
             words,
             runner.job().gives_label()    ? "labels"
             : runner.job().gives_choice() ? "choices"
                                           : "pieces",
             total, perplexity(total, words));
}

}  // namespace

void add_score(CLI::App& app) {
  CLI::App* command = app.add_subcommand("score", "Tell how probable given outputs are under a model");
  const auto options = std::make_shared<ScoreOptions>();
  command->add_option("--model,-m", options->models, "Model folder; several make an ensemble")->required();
  command->add_flag("--summary", options->summary, "Print only the sum over all samples");
  options->samples.add_tables(*command);
  options->samples.add_lines(*command);
  command->add_option("--threads,--cpu-threads", options->threads, "Threads (0: all)")->capture_default_str();
  command->footer(
      "Each line of the output has the log-probability, the log-probability per piece and the perplexity.\n"
      "Examples:\n  heed score -m my-model -s test.en -t test.de\n  heed score -m my-model --data test.tsv --summary");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
