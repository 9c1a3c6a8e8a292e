#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/data/text_file.h"
#include "heed/metrics/perplexity.h"
#include "heed/jobs/translator.h"

namespace heed::cli {
namespace {

struct ScoreOptions {
  std::vector<std::string> models;
  std::string source, target;
  bool summary = false;
  TranslatorOptions translator;
};

void run(const ScoreOptions& options) {
  limit_threads(options.translator.threads);
  const std::vector<std::filesystem::path> folders(options.models.begin(), options.models.end());
  Translator translator(folders, options.translator,
                        [](const std::string& line) { fmt::print(stderr, "warning: {}\n", line); });
  LineReader source(options.source), target(options.target);
  double total = 0;
  Index words = 0;
  for (bool more = true; more;) {
    std::vector<std::string> sources, targets;
    std::string line, other;
    while (sources.size() < 1000 && (more = source.next(line))) {
      require(target.next(other), "{}: it has {} lines, but {} has more", target.name(), target.number(),
              source.name());
      sources.push_back(line);
      targets.push_back(other);
    }
    require(more || !target.next(other), "{}: it has more lines than the {} of {}", target.name(), source.number(),
            source.name());
    for (const TranslationScore& score : translator.score(sources, targets)) {
      total += score.log_probability;
      words += score.words;
      if (!options.summary)
        fmt::print("{:.6g}\t{:.6g}\t{:.6g}\n", score.log_probability,
                   score.log_probability / static_cast<double>(score.words),
                   perplexity(score.log_probability, score.words));
    }
  }
  require(words > 0, "{}: it is empty", source.name());
  fmt::print(options.summary ? stdout : stderr, "{} sentences, {} pieces, log-probability {:.6g}, perplexity {:.6g}\n",
             source.number(), words, total, perplexity(total, words));
}

}  // namespace

void add_score(CLI::App& app) {
  CLI::App* command = app.add_subcommand("score", "How probable given translations are under a model");
  const auto options = std::make_shared<ScoreOptions>();
  command->add_option("--model,-m", options->models, "Model folder; several make an ensemble")->required();
  command->add_option("--source,-s", options->source, "File of sentences, one a line")->required();
  command->add_option("--target,-t", options->target, "Their translations")->required();
  command->add_flag("--summary", options->summary, "Print the sum over all sentences only");
  command->add_option("--threads,--cpu-threads", options->translator.threads, "Threads (0: all)")
      ->capture_default_str();
  command->footer(
      "Each line of the output is: log-probability, the same a piece, perplexity.\n"
      "Example:\n  heed score -m my-model -s test.en -t test.de");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
