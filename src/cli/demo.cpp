#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/cli/attention_flags.h"
#include "heed/cli/commands.h"
#include "heed/explain/terminal.h"
#include "heed/train/date_training.h"

namespace heed::cli {
namespace {

struct DemoOptions {
  AttentionChoice attention;
  DateTraining training;
};

std::vector<std::string> letters(const std::string& text) {
  std::vector<std::string> result;
  for (const char c : text) result.emplace_back(1, c);
  return result;
}

void show(const DateReader& model, const DatePair& pair) {
  const DateReader::Reading reading = model.read(written_ids(pair.written));
  const std::string iso = iso_text(reading.symbols);
  fmt::print("\n{}  →  {}{}\n", pair.written, iso, iso == pair.iso ? "" : fmt::format("   (should be {})", pair.iso));
  fmt::print("{}", draw_matrix(letters(iso), letters(pair.written), reading.weights, terminal_colour()));
}

void run(DemoOptions options) {
  options.training.model.attention = options.attention.options();
  fmt::print("A recurrent encoder-decoder with {} attention learns to read dates.\n", options.attention.text());
  const TrainedDateReader trained = train_date_reader(options.training);
  fmt::print("\n{} of {} unseen dates read without a mistake ({} parameters, {:.0f} s).\n", trained.correct,
             trained.unseen.size(), trained.parameters->count(), trained.seconds);
  fmt::print("Where it looked, for each character it wrote:\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(5, trained.unseen.size()); ++i)
    show(*trained.model, trained.unseen[i]);
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "demo", "Train a small attention model on generated dates and show where it looks (about a minute)");
  const auto options = std::make_shared<DemoOptions>();
  add_attention_flags(*command, options->attention);
  command->add_option("--steps", options->training.steps, "Training steps")->capture_default_str();
  command->add_option("--batch", options->training.batch, "Dates a step")->capture_default_str();
  command->add_option("--seed", options->training.seed, "Seed of data and weights")->capture_default_str();
  command->add_option("--threads", options->training.threads, "Worker threads (0: all)")->capture_default_str();
  command->footer(
      "Examples:\n  heed demo\n  heed demo --attention luong-general --steps 300\n  heed demo --normaliser sparsemax");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
