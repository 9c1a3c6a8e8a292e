#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/file.h"
#include "heed/cli/commands.h"
#include "heed/jobs/bundle.h"

namespace heed::cli {
namespace {

// Every file of the folder and whether it is what was written; the program ends with 1 if one is not.
void verify(const std::string& path) {
  bool intact = true;
  for (const FolderDigests::Finding& file : ModelFolder(path).digests().findings()) {
    const char* state = !file.listed ? file.name.ends_with(".partial") ? "left behind half written; nothing reads it"
                                                                       : "without a digest"
                        : !file.fault.empty() ? file.fault.c_str()
                        : file.unfinished     ? "intact; its replacement was not finished"
                                              : "intact";
    fmt::print("{:<34} {}\n", file.name, state);
    intact = intact && file.fault.empty();
  }
  if (!intact) throw Exit{1};
}

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
  fmt::print("{:<22} {}{}\n", "weights", folder.has_weights() ? "trained" : "none yet",
             bundle.parameters->in_int8() ? ", of products in eight bits" : "");
  fmt::print("{:<22} {}\n\nIts configuration:\n", "checkpoint", folder.has_checkpoint() ? "yes" : "no");
  for (const FieldDescription& field : describe_fields([&](Fields& f) { bundle.config->visit(f); }))
    fmt::print("  {:<20} {:<12} {}\n", field.name, field.value, field.help);
  if (std::filesystem::exists(folder.training())) fmt::print("\nHow it was trained:\n{}", read_file(folder.training()));
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Show what is in a model folder");
  const auto path = std::make_shared<std::string>();
  const auto verifies = std::make_shared<bool>(false);
  command->add_option("model", *path, "Model folder")->required();
  command->add_flag("--verify", *verifies, "Read every file and compare it with the digest it was written with");
  command->footer("Examples:\n  heed info my-model\n  heed info my-model --verify");
  command->callback([path, verifies] { *verifies ? verify(*path) : run(*path); });
}

}  // namespace heed::cli
