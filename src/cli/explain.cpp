#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "heed/base/file.h"
#include "heed/base/spelling.h"
#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/data/text_file.h"
#include "heed/explain/display_width.h"
#include "heed/explain/explain.h"
#include "heed/explain/faithfulness.h"
#include "heed/explain/html.h"
#include "heed/explain/merge.h"
#include "heed/explain/page.h"
#include "heed/explain/pick.h"
#include "heed/explain/png.h"
#include "heed/explain/svg.h"
#include "heed/explain/terminal.h"
#include "heed/explain/trace_json.h"

namespace heed::cli {
namespace {

struct ExplainCommand {
  std::string model, text, target, input, targets, gold;
  bool has_text = false, has_target = false;
  bool json = false, rescale = false, alternatives = false, lines = false, trust = false;
  std::string svg, png, html;  // files
  std::string alignment, level, end, color = "auto", search = "beam";
  AttentionPick pick;
  ExplainOptions options;
  int threads = 0;
};

// One of the names that an option takes.
void check_choice(const char* option, const std::string& given, const std::vector<std::string>& known) {
  require(given.empty() || std::find(known.begin(), known.end(), given) != known.end(), "{}: there is no {}{}", option,
          given, did_you_mean(given, known));
}

void check(ExplainCommand& command) {
  check_choice("--alignment", command.alignment, {"hard", "soft"});
  check_choice("--level", command.level, {"word", "token"});
  check_choice("--end", command.end, {"keep", "drop"});
  require(!(command.json && !command.alignment.empty()), "--json and --alignment contradict each other");
  require(command.has_text != !command.input.empty(), "give either a text or --input with a file of them");
  require(!command.has_target || command.has_text, "--target is for one text; a file of them goes with --targets");
  require(command.targets.empty() || !command.input.empty(), "--targets goes with --input");
  require(command.gold.empty() || !command.targets.empty(),
          "--gold goes with --input and --targets, whose words it links");
  require(command.pick.head != "best" || !command.gold.empty(), "--head best needs --gold to choose it by");
  command.options.search.method = search_method_named(command.search);
  require(command.options.search.options.beam >= 1, "--beam: it must be at least 1, not {}",
          command.options.search.options.beam);
  const bool pictures = !command.svg.empty() || !command.png.empty() || !command.html.empty();
  require(!pictures || command.has_text, "--svg, --png and --html are of one text");
  require(!command.lines || !command.svg.empty() || !command.png.empty(), "--lines goes with --svg or --png");
  const AttentionPick& pick = command.pick;
  command.options.attentions = command.json || command.lines || !command.html.empty() || pick.rollout ||
                               !command.gold.empty() || !pick.attention.empty() || !pick.layer.empty() ||
                               !pick.head.empty();
  command.options.beam = command.alternatives;
}

// "my-model" of "runs/my-model/".
std::string name_of(const std::filesystem::path& folder) {
  const std::filesystem::path normal = folder.lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

std::string alternatives_of(const Trace& trace) {
  std::string text;
  for (std::size_t step = 0; step < trace.beam.size(); ++step) {
    text += fmt::format("{:3}", step + 1);
    for (const TraceHypothesis& each : trace.beam[step])
      text += fmt::format("  {}{} {:.2f}", each.chosen ? "*" : "", displayed(each.token), each.log_probability);
    text += '\n';
  }
  return text;
}

// In words or tokens, with or without the end. Pictures show words without the end and JSON shows all, unless it is
// asked otherwise.
Trace at_level(const ExplainCommand& command, Trace trace) {
  if (command.level.empty() ? !command.json : command.level == "word") trace = by_words(trace);
  if (command.end.empty() ? !command.json : command.end == "drop")
    trace = without_end(trace, command.rescale ? RowSums::rescaled_to_one : RowSums::as_left);
  return trace;
}

// The trace as it was asked for, with what was picked for its alignment.
Trace shown(const ExplainCommand& command, const Trace& trace) {
  const AttentionPick& pick = command.pick;
  const bool picks = pick.rollout || !pick.attention.empty() || !pick.layer.empty() || !pick.head.empty();
  return at_level(command, picks ? picked(trace, pick) : trace);
}

// Pictures go to files of their own: what is shown; but lines are of all heads of an attention, and the page has all.
void write_pictures(const ExplainCommand& command, const Trace& whole, const Trace& trace) {
  if (!command.html.empty()) write_file(command.html, html_page(page_html(), to_json(whole)));
  if (command.svg.empty() && command.png.empty()) return;
  const std::string svg =
      command.lines ? draw_lines_svg(at_level(command, whole), command.pick.attention) : draw_alignment_svg(trace);
  if (!command.svg.empty()) write_file(command.svg, svg);
  if (!command.png.empty()) write_file(command.png, draw_png(svg));
}

std::string trust_of(const Trace& trace) {
  std::string text;
  const auto tell = [&text](const char* name, double number) {
    if (std::isfinite(number)) text += fmt::format("{} {:.3f}\n", name, number);
  };
  for (const TraceTrust& trust : trace.trust) {
    tell("gradient agreement", trust.gradient_agreement);
    tell("leave-one-out agreement", trust.leave_one_out_agreement);
    tell("comprehensiveness", trust.comprehensiveness);
    tell("sufficiency", trust.sufficiency);
  }
  return text;
}

std::string written(const ExplainCommand& command, const Trace& trace) {
  if (command.json) return to_json(trace) + "\n";
  if (!command.alignment.empty()) {
    const WordAlignment alignment = alignment_of(trace);
    return fmt::format("{} ||| {}\n", trace.target.text,
                       command.alignment == "hard" ? hard_alignment(alignment) : soft_alignment(alignment));
  }
  std::string text = displayed(trace.target.text) + "\n";
  if (trace.alignment) {
    const WordAlignment alignment = alignment_of(trace);
    text += draw_matrix(alignment.target, alignment.source, alignment.weights, terminal_colour_named(command.color));
  } else if (!trace.source.words.empty()) {
    fmt::print(stderr, "{} has no attention to show\n", trace.system);
  }
  return text + alternatives_of(trace) + trust_of(trace) + "\n";
}

// Heads from the best, and the first of them.
HeadError best_head(const ExplainCommand& command, std::span<const Trace> traces) {
  std::vector<AlignmentLinks> gold;
  LineReader lines(command.gold);
  for (std::string line; lines.next(line);) gold.push_back(parse_alignment(line));
  require(gold.size() == traces.size(), "{}: it has {} lines, but there are {} sentences", command.gold, gold.size(),
          traces.size());
  const std::vector<HeadError> heads = heads_by_error(traces, gold);
  if (command.pick.head != "best")
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
    if (command.pick.head != "best") return;
    command.pick.attention = best.attention;
    command.pick.head = std::to_string(best.head);
  }
  // Traces of so many sentences are held at once.
  constexpr std::size_t chunk = 256;
  for (std::size_t first = 0; first < sources.size(); first += chunk) {
    const std::size_t count = std::min(chunk, sources.size() - first);
    const std::span<const std::string> part = std::span(sources).subspan(first, count);
    std::vector<Trace> traces =
        given ? explainer.explain_given(part, std::span(targets).subspan(first, count), command.options)
              : explainer.explain(part, command.options);
    for (Trace& trace : traces) {
      if (command.trust) trace.trust = {measure_trust(explainer.bundle(), trace)};
      const Trace asked = shown(command, trace);
      write_pictures(command, trace, asked);
      const std::string text = written(command, asked);
      require(std::fwrite(text.data(), 1, text.size(), stdout) == text.size(), "standard output: cannot write it");
    }
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
  sub->add_flag("--json", command->json, "Write traces as JSON, one a line (docs/trace.schema.json)");
  sub->add_option("--svg", command->svg, "File for the matrix as a drawing");
  sub->add_option("--png", command->png, "File for it in pixels");
  sub->add_flag("--lines", command->lines, "Draw lines between the sentences instead of a matrix");
  sub->add_option("--html", command->html, "File for a page with everything in it, which works from disk");
  sub->add_flag("--trust", command->trust, "Measure how far the alignment can be trusted");
  sub->add_option("--alignment", command->alignment,
                  "Write 'translation ||| alignment': hard (Pharaoh, 'source-target ...') or soft (weights)");
  sub->add_option("--level", command->level, "word or token [word; token with --json]");
  sub->add_option("--end", command->end, "keep or drop the end of the sentence [drop; keep with --json]");
  sub->add_flag("--rescale", command->rescale, "Scale rows to sum to 1 after the end was dropped");
  sub->add_option("--attention", command->pick.attention,
                  "decoder.layer3.source; or encoder.self, decoder.self, decoder.source: all layers of it");
  sub->add_option("--layer", command->pick.layer, "Number of the layer, or mean");
  sub->add_option("--head", command->pick.head, "Number of the head, mean, max, or best: the best by --gold");
  sub->add_flag("--rollout", command->pick.rollout, "Follow attention through the layers of self-attention below it");
  sub->add_option("--gold", command->gold,
                  "File of right alignments of --input and --targets; lists the heads by how well they align");
  sub->add_option("--search", command->search, "beam or greedy")->capture_default_str();
  sub->add_option("--beam,-b", options.search.options.beam, "Hypotheses in the beam")->capture_default_str();
  sub->add_flag("--alternatives", command->alternatives, "Show the hypotheses of every step of the search");
  sub->add_option("--color,--colour", command->color, "auto, true, 256 or none")->capture_default_str();
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
