#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/file.h"
#include "heed/cli/commands.h"
#include "heed/jobs/bundle.h"

namespace heed::cli {
namespace {

void run(const std::string& path) {
  const ModelFolder folder(path);
  const Bundle bundle = load_bundle(folder, folder.has_weights() ? FolderWeights::trained : FolderWeights::fresh);
  const System& system = *bundle.system;
  fmt::print("{}: {} ({})\n{}\n\n", path, system.name, system.paper, system.summary);
  fmt::print("{:<22} {} (heed {})\n", "job", bundle.job->name, bundle.job->verb);
  fmt::print("{:<22} {}\n", "parameters", bundle.parameters->count());
  const auto say_vocabulary = [&](const JobSide& side, const Vocabulary& vocabulary) {
    fmt::print("{:<22} {}, {} entries\n", side.name + " vocabulary", folder.vocabulary(side.name).filename().string(),
               vocabulary.size());
  };
  for (std::size_t i = 0; i < bundle.job->inputs.size(); ++i)
    if (const auto& vocabulary = bundle.codes.inputs[i]) say_vocabulary(bundle.job->inputs[i], *vocabulary);
  if (bundle.codes.output) say_vocabulary(bundle.job->output, *bundle.codes.output);
  if (!bundle.codes.labels.empty()) fmt::print("{:<22} {}\n", "labels", fmt::join(bundle.codes.labels, ", "));
  if (!bundle.languages.empty()) fmt::print("{:<22} {}\n", "languages", fmt::join(bundle.languages, " to "));
  fmt::print("{:<22} {}\n", "weights", folder.has_weights() ? "trained" : "none yet");
  fmt::print("{:<22} {}\n\nIts configuration:\n", "checkpoint", folder.has_checkpoint() ? "yes" : "no");
  for (const FieldDescription& field : describe_fields([&](Fields& f) { bundle.config->visit(f); }))
    fmt::print("  {:<20} {:<12} {}\n", field.name, field.value, field.help);
  if (std::filesystem::exists(folder.training())) fmt::print("\nHow it was trained:\n{}", read_file(folder.training()));
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Show what is in a model folder");
  const auto path = std::make_shared<std::string>();
  command->add_option("model", *path, "Model folder")->required();
  command->footer("Example:\n  heed info my-model");
  command->callback([path] { run(*path); });
}

}  // namespace heed::cli
