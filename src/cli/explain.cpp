#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "heed/base/threads.h"
#include "heed/cli/align_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/output_flags.h"
#include "heed/cli/sample_line.h"
#include "heed/cli/trace_view.h"
#include "heed/data/text_file.h"
#include "heed/jobs/runner.h"
#include "heed/trace/trace_json.h"

namespace heed::cli {
namespace {

// Traces of so many samples are held at once.
constexpr std::size_t kTracesAtOnce = 256;

struct ExplainCommand {
  std::string model, choices, target, input, targets, gold;
  Index gold_first = 0;
  std::vector<std::string> inputs;  // one for each input of the job
  bool has_target = false;
  std::string search = "beam";
  TraceView view;
  ExplainOptions options;
  RunSettings settings;
  int threads = 0;
};

void check(ExplainCommand& command) {
  command.view.check();
  if (command.inputs == std::vector<std::string>{"-"}) {  // as `heed run` reads it
    require(command.input.empty(), "give either '-' or --input");
    command.inputs.clear();
    command.input = "-";
  }
  const bool typed = !command.inputs.empty();
  require(typed != !command.input.empty(), "give either a text or --input with a file of them");
  require(command.choices.empty() || typed, "--choices is for one text; lines of a file have their own");
  require(!command.has_target || typed, "--target is for one text; a file of them goes with --targets");
  require(command.targets.empty() || !command.input.empty(), "--targets goes with --input");
  require(command.gold.empty() || !command.targets.empty(),
          "--gold goes with --input and --targets, whose words it links");
  require(command.view.pick.head != "best" || !command.gold.empty(), "--head best needs --gold to choose it by");
  command.options.run.search.method = search_method_named(command.search);
  require(command.options.run.search.options.beam >= 1, "--beam: it must be at least 1, not {}",
          command.options.run.search.options.beam);
  require(!command.view.pictures() || typed, "--svg, --png and --html are of one text");
  if (command.view.json || !command.view.html.empty()) command.options.most_weights = kMostTraceWeights;
  command.options.attentions = command.view.needs_attentions() || !command.gold.empty();
  command.options.playable = !command.view.html.empty();
}

// The samples to explain, with outputs where they are given.
std::vector<Sample> read_samples(const ExplainCommand& command, const Job& job) {
  std::vector<Sample> samples;
  if (!command.inputs.empty()) {
    require(command.inputs.size() == job.inputs.size(), "[explain] {} reads {} inputs, not {}", job.name,
            job.inputs.size(), command.inputs.size());
    Sample& sample = samples.emplace_back();
    for (std::size_t i = 0; i < command.inputs.size(); ++i)
      sample.inputs.push_back(open_value(job.inputs[i].kind, command.inputs[i]));
    if (!command.choices.empty()) sample.choices = choices_of(command.choices);
    if (command.has_target) sample.outputs = {command.target};
    return samples;
  }
  LineReader lines(command.input);
  for (std::string line; lines.next(line);)
    samples.push_back(sample_of_line(job, line, fmt::format("line {}", samples.size() + 1)));
  if (command.targets.empty()) return samples;
  const std::vector<std::string> targets = LineReader(command.targets).rest();
  require(samples.size() == targets.size(), "{}: it has {} lines, but {} has {}", command.targets, targets.size(),
          command.input, samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].outputs = {targets[i]};
  return samples;
}

// Heads from the best, and the first of them.
HeadError best_head(const ExplainCommand& command, std::span<const Trace> traces) {
  std::vector<AlignmentLinks> gold;
  LineReader lines(command.gold);
  for (std::string line; lines.next(line);) gold.push_back(parse_alignment(line, command.gold_first));
  require(gold.size() == traces.size(), "{}: it has {} lines, but there are {} sentences", command.gold, gold.size(),
          traces.size());
  const std::vector<HeadError> heads = heads_by_error(traces, gold);
  if (command.view.pick.head != "best")
    for (const HeadError& head : heads)
      fmt::print("{} head {} alignment error {:.4f}\n", head.attention, head.head, head.error);
  return heads.front();
}

void run(ExplainCommand command) {
  check(command);
  limit_threads(command.threads);
  Runner runner(
      {command.model}, command.threads, [](const std::string& line) { fmt::print(stderr, "warning: {}\n", line); },
      FolderWeights::trained, Numbers::stored, command.settings);
  command.view.drop_output(command.inputs, runner.job().inputs.size());
  require(command.choices.empty() || runner.job().gives_choice(), "--choices: {} does not choose from what is given",
          runner.job().name);
  const std::vector<Sample> samples = read_samples(command, runner.job());
  if (!command.gold.empty()) {
    const HeadError best = best_head(command, runner.explain(samples, command.options));
    if (command.view.pick.head != "best") return;
    command.view.pick.attention = best.attention;
    command.view.pick.head = std::to_string(best.head);
  }
  for (std::size_t first = 0; first < samples.size(); first += kTracesAtOnce) {
    const std::size_t count = std::min(kTracesAtOnce, samples.size() - first);
    const std::vector<Trace> traces = runner.explain(std::span(samples).subspan(first, count), command.options);
    command.view.write_pictures(traces);
    for (const Trace& trace : traces) command.view.show(trace);
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("explain", "Show what a model looks at while it works");
  const auto command = std::make_shared<ExplainCommand>();
  ExplainOptions& options = command->options;
  sub->add_option("model", command->model, "Model folder")->required()->type_name("MODEL");
  sub->add_option("inputs", command->inputs,
                  "What it reads: a text, or one for each input of its job ('-': lines of the standard input)")
      ->type_name("TEXT");
  sub->add_option("--input,-i", command->input, "File of inputs, one per line ('-': standard input)");
  sub->add_option("--choices", command->choices,
                  "What a reader can answer: 'choice|choice|...' (default: every word of the document)")
      ->type_name("CHOICES");
  sub->add_option_function<std::string>(
         "--target", [command](const std::string& text) { command->target = text, command->has_target = true; },
         "Output to explain instead of the one that the search finds: a text or a label")
      ->type_name("TEXT");
  sub->add_option("--targets", command->targets, "File of outputs to explain, one per line of --input");
  command->view.add_flags(*sub);
  sub->add_flag("--trust", options.trust, "Measure how far the alignment can be trusted");
  sub->add_option("--gold", command->gold,
                  "File of gold alignments of --input and --targets: lists the heads, the best aligned first; with "
                  "--head best, shows that one");
  add_gold_first(*sub, command->gold_first);
  sub->add_option("--search", command->search, "beam or greedy")->capture_default_str();
  sub->add_option("--beam,-b", options.run.search.options.beam, "Hypotheses in the beam")->capture_default_str();
  sub->add_flag("--alternatives", options.beam, "Show the hypotheses of every step of the search");
  sub->add_option("--longest", options.run.limits.longest, "Longest text in pieces")->capture_default_str();
  add_rerank_flag(*sub, options.run);
  add_setting_flags(*sub, command->settings);
  sub->add_option("--threads", command->threads, "Threads (0: all)")->capture_default_str();
  sub->footer(
      "Examples:\n"
      "  heed explain my-model 'a small house'\n"
      "  heed explain my-model 'a small house' --target 'ein kleines Haus' --level token --end keep\n"
      "  heed explain my-model 'a small house' --attention decoder.layer3.source --head 2\n"
      "  heed explain my-model 'a small house' --attention encoder.self --rollout\n"
      "  heed explain my-model 'a small house' --svg house.svg --html house.html --trust\n"
      "  heed explain my-model 'a small house' --png - | display\n"
      "  heed explain my-reader 'a document' 'its XXXXX' --choices 'title|end'\n"
      "  heed explain my-model --input test.en --json > traces.jsonl\n"
      "  heed explain my-model --input test.en --targets test.de --gold test.align");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
