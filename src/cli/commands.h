#pragma once

namespace CLI {
class App;
}

// Each adds one subcommand; what it does happens while the command line is parsed.
namespace heed::cli {

void add_demo(CLI::App& app);
void add_attentions(CLI::App& app);
void add_evaluate(CLI::App& app);

}  // namespace heed::cli
