#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "heed/base/file.h"
#include "heed/base/threads.h"
#include "heed/cli/align_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/output.h"
#include "heed/cli/training_flags.h"
#include "heed/data/spooled_files.h"
#include "heed/explain/plot.h"
#include "heed/jobs/training.h"
#include "heed/store/fields_file.h"
#include "heed/store/model_folder.h"
#include "heed/train/launch.h"

namespace heed::cli {
namespace {

struct TrainOptions {
  std::string config;
  bool dump = false, resume = false, force = false, changed = false, align = false;
  std::vector<GivenOption> given;  // by flags
};

// What is left of the command line are the model's own options: --name value, --name=value, or --name for true.
void add_model_options(const std::vector<std::string>& words, std::vector<GivenOption>& given) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) throw OptionError(fmt::format("heed train: {} is one word too many", words[i]));
    const std::size_t equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    std::string text = "true";
    if (equals != std::string::npos) {
      text = words[i].substr(equals + 1);
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      text = words[++i];
    }
    given.push_back({flag.substr(2), text, flag});
  }
}

// Of a training that logged something: a very short one may have nothing to draw.
void draw_curve(const ModelFolder& folder) {
  LinePlot::Series training{"training", {}}, validation{"validation", {}};
  const TrainingHistory history = read_training_log(folder.log());
  for (const LoggedSteps& line : history.steps) training.points.emplace_back(static_cast<double>(line.step), line.loss);
  for (const LoggedScores& line : history.scores)
    if (const auto value = line.values.find("cross-entropy"); value != line.values.end())
      validation.points.emplace_back(static_cast<double>(line.step), value->second);
  if (training.points.empty() && validation.points.empty()) return;
  LinePlot plot{.title = folder.path().filename().string() + ", " + folder.model(),
                .x_label = "updates",
                .y_label = "loss",
                .series = {training},
                .marks = false};
  if (!validation.points.empty()) plot.series.push_back(validation);
  write_file(folder.path() / "curve.svg", draw_svg(plot));
}

void report(const TrainedModel& trained) {
  const ModelFolder folder(trained.folder);
  if (std::filesystem::exists(folder.log())) draw_curve(folder);
  const std::string place = trained.folder.string();
  if (trained.result.end == LoopEnd::signal) {
    say(fmt::format("stopped after step {}; go on with: heed train --resume --output {}", trained.result.step, place));
    throw Exit{128 + trained.result.signal};
  }
  const char* why = trained.result.end == LoopEnd::patience ? ", nothing improved any more" : "";
  say(fmt::format("done after {} steps{}; the model is in {}", trained.result.step, why, place));
}

// What all ranks are told alike. Gives what --resume goes on with, or else the plan.
struct Task {
  std::optional<Training> resumed;
  std::optional<TrainingPlan> plan;
};
Task read_task(TrainOptions options, const std::vector<std::string>& rest) {
  add_model_options(rest, options.given);
  std::vector<GivenOption> given;
  if (!options.config.empty())
    for (const auto& [name, text] : read_options(read_file(options.config), options.config))
      given.push_back({name, text, options.config});
  given.insert(given.end(), options.given.begin(), options.given.end());
  require(options.resume || !options.changed, "--accept-changed-data goes with --resume");
  require(!options.resume || !options.force, "--resume and --force contradict each other");
  require(!options.resume || !options.align,
          "--align is for a new training; one that is resumed has its links already");

  Task task;
  if (!options.resume) {
    task.plan = plan_training(given);
    return task;
  }
  std::string output;
  for (const GivenOption& option : given)
    if (option.name == "output") output = option.text;
  require(!output.empty(), "--resume: say which model folder goes on, with --output");
  task.resumed = training_of_folder(output);
  change_training(*task.resumed, given);
  return task;
}

// Guided alignment without another tool: links of the training's pairs, in a file beside the model's folder, which is
// what --alignments names from here on.
std::string file_of_links(const Training& training) {
  return std::filesystem::path(training.output).lexically_normal().string() + ".align";
}
void align_training(const Training& training) {
  const Job& job = training.declared_job();
  require(job.inputs.size() == 1 && is_text(job.inputs.front().kind) && job.output.kind == Kind::text,
          "--align: {} has no pairs of sentences", job.name);
  require(training.alignments.empty(), "--align: it takes the place of --alignments");
  const SampleFiles files = training.training_files();
  for (const std::string& file : files.files)
    require(!is_read_once(file), "--align: {} is read twice, which it cannot be", file);
  OutputFile output(file_of_links(training));
  AlignFlags flags{.lowercase = true, .threads = static_cast<int>(training.threads)};
  BitextReading reading{.columns = {job.inputs.front().name, job.output.name}};
  const Bitext text = flags.read(files, reading);
  const BothAlignments both = flags.align(text, text);
  for (std::size_t n = 0; n < text.size(); ++n)
    output.write(word_links_text(both.links(text, n, join_named(flags.join))) + '\n');
  output.finish();
  say(fmt::format("aligned {} pairs of sentences; the links are in {}", text.size(), file_of_links(training)));
}

void run_as_rank(const TrainOptions& options, const std::vector<std::string>& rest, const RanksPointer& ranks) {
  Task task;
  ranks->together([&] { task = read_task(options, rest); });
  TrainedModel trained;
  if (task.resumed) {
    limit_threads(task.resumed->threads);
    trained =
        resume_training(*task.resumed, say, options.changed ? ChangedData::accepted : ChangedData::refused, ranks);
  } else {
    if (options.dump) {
      if (ranks->first()) fmt::print("{}\n", fields_json([&task](Fields& field) { task.plan->visit(field); }));
      return;
    }
    Training& training = task.plan->training;
    ranks->together([&] { check_folder(training.output); });
    limit_threads(training.threads);
    if (options.align) {
      ranks->once([&] {
        check_training(training);
        require_free_folder(training.output, options.force);
        align_training(training);
      });
      training.alignments = file_of_links(training);
    }
    trained = train_model(std::move(*task.plan), options.force, say, ranks);
  }
  if (ranks->first()) return report(trained);
  if (trained.result.end == LoopEnd::signal) throw Exit{128 + trained.result.signal};
}

void run(const TrainOptions& options, const std::vector<std::string>& rest) {
  try {
    work_as_rank([&](const RanksPointer& ranks) { run_as_rank(options, rest, ranks); });
  } catch (const ErrorOfRanks& error) {
    // The first rank says it for all.
    if (!error.is_shown_here()) throw Exit{1};
    if (error.own()) std::rethrow_exception(error.own());
    throw;
  }
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train a model from files of samples");
  const auto options = std::make_shared<TrainOptions>();
  command->add_option("--config", options->config, "File of options: JSON, or lines 'name: value'");
  command->add_flag("--dump-config", options->dump, "Print all options as such a file, and do nothing else");
  command->add_flag("--resume", options->resume, "Go on where the training of --output stands");
  command->add_flag("--accept-changed-data", options->changed,
                    "With --resume: go on though the files are not those that the training began with");
  command->add_flag("--force", options->force, "Replace a model that is in --output");
  command->add_flag("--align", options->align,
                    "Find which words of the training's sentences belong together, as heed align does, and let them "
                    "guide the attention");
  add_training_flags(*command, {}, [options](GivenOption option) { options->given.push_back(std::move(option)); });
  command->allow_extras();
  command->footer(
      "A model has options of its own, such as --dropout; 'heed models NAME' lists them. Defaults of the training may\n"
      "differ by model; --dump-config shows them.\n"
      "Examples:\n"
      "  heed train --model rnnsearch --source train.en --target train.fr --valid-source valid.en \\\n"
      "             --valid-target valid.fr --output my-model\n"
      "  heed train --model rnnsearch --job summarisation --data train.tsv --valid valid.tsv --output headlines\n"
      "  heed train --resume --output my-model --epochs 40\n"
      "  heed train --from my-model --data more.tsv --valid valid.tsv --epochs 5 --output my-model-2\n"
      "  mpirun -n 4 heed train --data pairs.tsv.gz --model transformer --output trained-by-four\n"
      "  heed train --data pairs.tsv.gz --model transformer --width 256 --steps 2000 --output small\n"
      "  heed train --config my.yaml --dump-config > all.json");
  command->callback([command, options] { run(*options, command->remaining()); });
}

}  // namespace heed::cli
