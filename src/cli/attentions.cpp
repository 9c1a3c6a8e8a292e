#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "heed/attention/mechanism.h"
#include "heed/cli/commands.h"

namespace heed::cli {

void add_attentions(CLI::App& app) {
  CLI::App* command = app.add_subcommand("attentions", "List every attention mechanism and the parts they are made of");
  command->callback([] { fmt::print("{}", describe_attentions()); });
}

}  // namespace heed::cli
