#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/file.h"
#include "heed/cli/align_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/output.h"
#include "heed/cli/sample_flags.h"
#include "heed/cli/training_flags.h"
#include "heed/explain/plot.h"
#include "heed/jobs/comparison.h"

namespace heed::cli {
namespace {

// The score that decides over the time of training; empty where no system was validated twice, since a single point
// is no curve.
std::string draw_curves(const Comparison& comparison) {
  LinePlot plot{
      .title = "Quality over time", .x_label = "seconds of training", .y_label = comparison.metric, .series = {}};
  std::size_t longest = 0;
  for (const ComparedSystem& system : comparison.systems) {
    LinePlot::Series series{system.name, {}};
    for (const LoggedScores& line : system.history.scores)
      if (const auto value = line.values.find(comparison.metric); value != line.values.end())
        series.points.emplace_back(line.seconds, value->second);
    longest = std::max(longest, series.points.size());
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  return longest < 2 ? "" : draw_svg(plot);
}

void run(const ComparisonOptions& options) {
  check_folder(options.output);
  const Comparison comparison = compare_systems(options, say);
  if (comparison.signal != 0) {
    say("stopped; the same command goes on");
    throw Exit{128 + comparison.signal};
  }
  const std::string table = comparison_table(comparison);
  write_file(options.output / "comparison.md", table);
  write_file(options.output / "comparison.json", comparison_json(comparison));
  const std::string curves = draw_curves(comparison);
  if (!curves.empty()) write_file(options.output / "comparison.svg", curves);
  fmt::print("{}", table);
  say(fmt::format("written to {}: comparison.md, comparison.json{}", options.output.string(),
                  curves.empty() ? "" : ", comparison.svg"));
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compare", "Train several systems alike and compare them in a table and a plot");
  const auto options = std::make_shared<ComparisonOptions>();
  command->add_option("systems", options->systems, "MODEL or MODEL:option=value,option=value")->required();
  command->add_option("--output,-o", options->output, "Folder for the models, the table and the plot")->required();
  command->add_option("--test", options->test, "Samples to compare on, as --data (default: those of validation)");
  const auto lines = std::make_shared<SampleFlags>();
  lines->add_lines(*command, "test-");
  command->add_option("--gold", options->gold,
                      "Gold word alignments of the test samples (Pharaoh), for the alignment error rate");
  add_gold_first(*command, options->gold_first);
  command->add_flag("--force", options->replace, "Train again what was trained with other options before");
  add_training_flags(*command, {"model", "output"},
                     [options](GivenOption option) { options->training.push_back(std::move(option)); });
  command->footer(
      "Vocabularies, seed and budget (--steps, --epochs or --minutes) are the same for all. The same command again "
      "keeps\n"
      "what is finished and goes on with what was stopped.\n"
      "Examples:\n"
      "  heed corpus grammar data\n"
      "  heed compare rnnsearch rnnsearch:score=general luong:window=local-p transformer:positions=rotary \\\n"
      "               --source data/train.en --target data/train.fr --valid-source data/valid.en \\\n"
      "               --valid-target data/valid.fr --test-source data/test.en --test-target data/test.fr \\\n"
      "               --gold data/test.align --minutes 5 --output comparison");
  command->callback([options, lines] {
    options->test_lines = lines->lines;
    run(*options);
  });
}

}  // namespace heed::cli
