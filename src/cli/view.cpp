#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/error.h"
#include "heed/cli/commands.h"
#include "heed/cli/trace_view.h"
#include "heed/data/text_file.h"
#include "heed/trace/import.h"
#include "heed/trace/trace_json.h"

namespace heed::cli {
namespace {

struct ViewCommand {
  std::vector<std::string> files;  // one
  std::string format = "trace", source, target;
  Index number = 0;
  TraceView view;
};

// Traces as `heed explain --json` writes them, one per line.
std::vector<Trace> read_traces(const std::string& file) {
  std::vector<Trace> traces;
  LineReader lines(file, kLongestTrace);
  for (std::string line; lines.next(line);) {
    if (line.empty()) continue;
    try {
      traces.push_back(trace_from_json(line));
    } catch (const Error& error) {
      fail("{}, line {}: {}", lines.name(), lines.number(), error.what());
    }
  }
  return traces;
}

void run(ViewCommand command) {
  command.view.check();
  command.view.drop_output(command.files, 1);
  require(command.files.size() == 1, "[view] give one file, not {}", command.files.size());
  const std::string& file = command.files.front();
  const bool own = command.format == "trace";
  require(!own || (command.source.empty() && command.target.empty()),
          "--source and --target: a trace has its sentences; they go with --format");
  std::vector<std::string> known{"trace"};
  for (const ImportFormat& format : import_formats()) known.push_back(format.name);
  check_choice("--format", command.format, known);
  std::vector<Trace> traces =
      own ? read_traces(file) : import_traces(command.format, file, command.source, command.target);
  const auto count = static_cast<Index>(traces.size());
  require(count > 0, "{}: there is nothing in it", file);
  require(command.number >= 0 && command.number <= count, "--number: {} is outside 1..{}", command.number, count);
  if (command.number > 0) traces = {traces[static_cast<std::size_t>(command.number - 1)]};
  command.view.write_pictures(traces);
  if (command.view.pictures() && !command.view.json && command.view.alignment.empty()) return;
  for (const Trace& trace : traces) command.view.show(trace);
}

}  // namespace

void add_view(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("view", "Show traces and other toolkits' alignments, without a model");
  const auto command = std::make_shared<ViewCommand>();
  std::string formats = "trace (of heed explain --json)";
  for (const ImportFormat& format : import_formats()) formats += ", " + format.name;
  sub->add_option("file", command->files, "File to show ('-': standard input)")->required()->type_name("FILE");
  sub->add_option("--format,-f", command->format, "What it is: " + formats)->capture_default_str();
  sub->add_option("--source", command->source, "Source sentences, for formats that do not bring them");
  sub->add_option("--target", command->target, "Target sentences, for formats that do not bring them");
  sub->add_option("--number,-n", command->number,
                  "Show only this sentence, counted from 1 (0: all; drawings show the first)")
      ->capture_default_str();
  command->view.add_flags(*sub);
  std::string footer = "Formats:\n";
  for (const ImportFormat& format : import_formats())
    footer += fmt::format("  {:<9} {}\n", format.name, format.summary);
  sub->footer(footer +
              "\nExamples:\n"
              "  heed explain my-model --input test.en --json > traces.jsonl; heed view traces.jsonl -n 3\n"
              "  heed view traces.jsonl --html traces.html\n"
              "  marian-decoder --alignment soft ... < test.en > out; heed view out -f marian --source test.en\n"
              "  heed view test.align -f pharaoh --source test.en --target test.de -n 1 --svg one.svg");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
