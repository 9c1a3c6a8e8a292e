#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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
  std::vector<std::vector<std::string>> columns{{""}};  // titles, then flags and values
  for (const std::string& preset : system.presets) {
    const std::unique_ptr<Config> config = system.config(preset);
    columns.push_back({preset});
    for (const FieldDescription& field : describe_fields([&](Fields& f) { config->visit(f); }))
      columns.back().push_back(field.value.empty() ? "''" : field.value);
  }
  std::vector<std::string> help{""};
  const std::unique_ptr<Config> config = system.config(system.presets.front());
  for (const FieldDescription& field : describe_fields([&](Fields& f) { config->visit(f); })) {
    columns.front().push_back("--" + flag_name(field.name));
    help.push_back(field.help);
  }
  fmt::print("{}: {}\n{}\n\n", system.name, system.summary, system.paper);
  for (std::size_t row = 0; row < help.size(); ++row) {
    std::string line;
    for (const std::vector<std::string>& column : columns) {
      std::size_t widest = 0;
      for (const std::string& cell : column) widest = std::max(widest, cell.size());
      line += fmt::format("  {:<{}}", column[row], widest);
    }
    line += "  " + help[row];
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* command = app.add_subcommand("models", "List the jobs and their models, or the options of one");
  const auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "Model whose options are listed");
  command->footer("Examples:\n  heed models\n  heed models transformer");
  command->callback([name] { name->empty() ? list() : describe(*name); });
}

}  // namespace heed::cli
