#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/cli/commands.h"
#include "heed/jobs/job.h"

namespace heed::cli {
namespace {

void list() {
  for (const Job& job : jobs()) {
    std::vector<std::string> reads;
    for (const JobSide& input : job.inputs) reads.push_back(fmt::format("{} ({})", input.name, name_of(input.kind)));
    fmt::print("{}: heed {} reads {}, gives {} ({})\n", job.name, job.verb, fmt::join(reads, " and "), job.output.name,
               name_of(job.output.kind));
    for (const System* system : systems_of(job)) {
      const char* const mark = system->name == job.system ? "* " : "  ";
      if (system->job == job.name)
        fmt::print("{}{:<14} {}\n  {:<14} {}; presets: {}\n", mark, system->name, system->summary, "", system->paper,
                   fmt::join(system->presets, ", "));
      else
        fmt::print("{}{:<14} as for {}\n", mark, system->name, system->job);
    }
    fmt::print("\n");
  }
  fmt::print("* is the default of its job. The options of one of them:  heed models NAME\n");
}

// Its fields, with a column of values for each preset.
void describe(const std::string& name) {
  const System& system = system_named(name);
  fmt::print("{}: {}\n{}\n\n{:<22}", system.name, system.summary, system.paper, "");
  std::vector<std::vector<FieldDescription>> columns;
  for (const std::string& preset : system.presets) {
    const std::unique_ptr<Config> config = system.config(preset);
    columns.push_back(describe_fields([&](Fields& f) { config->visit(f); }));
    fmt::print("{:<12}", preset);
  }
  fmt::print("\n");
  for (std::size_t row = 0; row < columns.front().size(); ++row) {
    fmt::print("  --{:<18}", flag_name(columns.front()[row].name));
    for (const auto& column : columns) fmt::print("{:<12}", column[row].value.empty() ? "''" : column[row].value);
    fmt::print("{}\n", columns.front()[row].help);
  }
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* command = app.add_subcommand("models", "List the jobs and their models, or the options of one");
  const auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "A model");
  command->footer("Examples:\n  heed models\n  heed models transformer");
  command->callback([name] { name->empty() ? list() : describe(*name); });
}

}  // namespace heed::cli
