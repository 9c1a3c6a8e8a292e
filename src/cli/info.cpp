#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/file.h"
#include "heed/cli/commands.h"
#include "heed/jobs/translation_folder.h"

namespace heed::cli {
namespace {

void run(const std::string& path) {
  const ModelFolder folder(path);
  const TranslationBundle bundle =
      load_translation(folder, folder.has_weights() ? FolderWeights::trained : FolderWeights::fresh);
  const System& system = system_named(bundle.name);
  fmt::print("{}: {} ({})\n{}\n\n", path, system.name, system.paper, system.summary);
  fmt::print("{:<22} {}\n", "parameters", bundle.parameters->count());
  fmt::print("{:<22} {}, {} entries\n", "source vocabulary", folder.vocabulary("source").filename().string(),
             bundle.source->size());
  fmt::print("{:<22} {}, {} entries\n", "target vocabulary", folder.vocabulary("target").filename().string(),
             bundle.target->size());
  fmt::print("{:<22} {}\n", "weights", folder.has_weights() ? "trained" : "none yet");
  fmt::print("{:<22} {}\n\nIts configuration:\n", "checkpoint", folder.has_checkpoint() ? "yes" : "no");
  for (const FieldDescription& field : describe_fields([&](Fields& f) { bundle.config->visit(f); }))
    fmt::print("  {:<20} {:<12} {}\n", field.name, field.value, field.help);
  if (std::filesystem::exists(folder.training())) fmt::print("\nHow it was trained:\n{}", read_file(folder.training()));
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "What is in a model folder");
  const auto path = std::make_shared<std::string>();
  command->add_option("model", *path, "Model folder")->required();
  command->footer("Example:\n  heed info my-model");
  command->callback([path] { run(*path); });
}

}  // namespace heed::cli
