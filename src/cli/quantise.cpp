#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/cli/commands.h"
#include "heed/jobs/quantising.h"

namespace heed::cli {
namespace {

struct QuantiseCommand {
  std::string model, output;
  bool force = false;
};

void run(const QuantiseCommand& command) {
  const QuantisedSize size = quantise_folder(ModelFolder(command.model), command.output, command.force);
  const auto megabytes = [](std::uintmax_t bytes) { return static_cast<double>(bytes) / 1e6; };
  fmt::print("{}: {:.1f} MB of weights, {:.1f} MB before\n", command.output, megabytes(size.after),
             megabytes(size.before));
}

}  // namespace

void add_quantise(CLI::App& app) {
  CLI::App* command = app.add_subcommand("quantise", "Make a model a quarter of its size and faster to run: int8");
  const auto options = std::make_shared<QuantiseCommand>();
  command->add_option("model", options->model, "Model folder")->required()->type_name("MODEL");
  command->add_option("-o,--output", options->output, "Folder to make")->required()->type_name("FOLDER");
  command->add_flag("--force", options->force, "Replace a model that is in --output");
  command->footer(
      "Weights are rounded to eight bits, each output of a product with a scale of its own; what is multiplied by\n"
      "them is rounded when it is known, each row with its own scale. Every command takes the new folder as it takes\n"
      "the old one, on any processor; with VNNI (AVX-512) its products are fastest. It is not trained further: keep\n"
      "the old one. The commands that run a model take --int8 as well, which rounds when the model is loaded.\n\n"
      "Examples:\n  heed quantise my-model --output my-model-int8\n  heed translate my-model-int8 text.txt");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
