#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/cli/trace_view.h"
#include "heed/data/text_file.h"
#include "heed/jobs/explain.h"
#include "heed/jobs/faithfulness.h"

namespace heed::cli {
namespace {

struct ExplainCommand {
  std::string model, text, target, input, targets, gold;
  bool has_text = false, has_target = false, alternatives = false, trust = false;
  std::string search = "beam";
  TraceView view;
  ExplainOptions options;
  int threads = 0;
};

void check(ExplainCommand& command) {
  command.view.check();
  require(command.has_text != !command.input.empty(), "give either a text or --input with a file of them");
  require(!command.has_target || command.has_text, "--target is for one text; a file of them goes with --targets");
  require(command.targets.empty() || !command.input.empty(), "--targets goes with --input");
  require(command.gold.empty() || !command.targets.empty(),
          "--gold goes with --input and --targets, whose words it links");
  require(command.view.pick.head != "best" || !command.gold.empty(), "--head best needs --gold to choose it by");
  command.options.search.method = search_method_named(command.search);
  require(command.options.search.options.beam >= 1, "--beam: it must be at least 1, not {}",
          command.options.search.options.beam);
  require(!command.view.pictures() || command.has_text, "--svg, --png and --html are of one text");
  command.options.attentions = command.view.needs_attentions() || !command.gold.empty();
  command.options.beam = command.alternatives;
}

// "my-model" of "runs/my-model/".
std::string name_of(const std::filesystem::path& folder) {
  const std::filesystem::path normal = folder.lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

// Heads from the best, and the first of them.
HeadError best_head(const ExplainCommand& command, std::span<const Trace> traces) {
  std::vector<AlignmentLinks> gold;
  LineReader lines(command.gold);
  for (std::string line; lines.next(line);) gold.push_back(parse_alignment(line));
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
  std::vector<std::string> sources, targets;
  if (command.has_text) {
    sources.push_back(command.text);
    if (command.has_target) targets.push_back(command.target);
  } else {
    sources = LineReader(command.input).rest();
    if (!command.targets.empty()) targets = LineReader(command.targets).rest();
  }
  const bool given = command.has_target || !command.targets.empty();
  require(!given || sources.size() == targets.size(), "{}: it has {} lines, but {} has {}", command.targets,
          targets.size(), command.input, sources.size());
  const Explainer explainer(
      std::make_shared<const TranslationBundle>(load_translation(ModelFolder(command.model), FolderWeights::trained)),
      name_of(command.model));
  if (!command.gold.empty()) {
    const HeadError best = best_head(command, explainer.explain_given(sources, targets, command.options));
    if (command.view.pick.head != "best") return;
    command.view.pick.attention = best.attention;
    command.view.pick.head = std::to_string(best.head);
  }
  // Traces of so many sentences are held at once.
  constexpr std::size_t chunk = 256;
  for (std::size_t first = 0; first < sources.size(); first += chunk) {
    const std::size_t count = std::min(chunk, sources.size() - first);
    const std::span<const std::string> part = std::span(sources).subspan(first, count);
    std::vector<Trace> traces =
        given ? explainer.explain_given(part, std::span(targets).subspan(first, count), command.options)
              : explainer.explain(part, command.options);
    if (command.trust)
      for (Trace& trace : traces) trace.trust = {measure_trust(explainer.bundle(), trace)};
    command.view.write_pictures(traces);
    for (const Trace& trace : traces) command.view.show(trace);
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("explain", "Show what a model looks at while it translates");
  const auto command = std::make_shared<ExplainCommand>();
  ExplainOptions& options = command->options;
  sub->add_option("model", command->model, "Model folder")->required()->type_name("MODEL");
  sub->add_option_function<std::string>(
         "text", [command](const std::string& text) { command->text = text, command->has_text = true; },
         "Sentence to translate")
      ->type_name("TEXT");
  sub->add_option("--input,-i", command->input, "File of sentences, one a line ('-': standard input)");
  sub->add_option_function<std::string>(
         "--target", [command](const std::string& text) { command->target = text, command->has_target = true; },
         "A translation to read instead of searching one")
      ->type_name("TEXT");
  sub->add_option("--targets", command->targets, "File of translations to read, one for each line of --input");
  command->view.add_flags(*sub);
  sub->add_flag("--trust", command->trust, "Measure how far the alignment can be trusted");
  sub->add_option("--gold", command->gold,
                  "File of right alignments of --input and --targets; lists the heads by how well they align, or "
                  "--head best takes the first");
  sub->add_option("--search", command->search, "beam or greedy")->capture_default_str();
  sub->add_option("--beam,-b", options.search.options.beam, "Hypotheses in the beam")->capture_default_str();
  sub->add_flag("--alternatives", command->alternatives, "Show the hypotheses of every step of the search");
  sub->add_option("--longest", options.longest, "Most pieces of a text")->capture_default_str();
  sub->add_option("--threads", command->threads, "Threads (0: all)")->capture_default_str();
  sub->footer(
      "Examples:\n"
      "  heed explain my-model 'a small house'\n"
      "  heed explain my-model 'a small house' --target 'ein kleines Haus' --level token --end keep\n"
      "  heed explain my-model 'a small house' --attention decoder.layer3.source --head 2\n"
      "  heed explain my-model 'a small house' --attention encoder.self --rollout\n"
      "  heed explain my-model 'a small house' --svg house.svg --html house.html --trust\n"
      "  heed explain my-model --input test.en --json > traces.jsonl\n"
      "  heed explain my-model --input test.en --targets test.de --gold test.align");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
