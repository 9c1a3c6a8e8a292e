#include "heed/cli/trace_view.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/base/utf8.h"
#include "heed/cli/output.h"
#include "heed/explain/glyphs.h"
#include "heed/explain/html.h"
#include "heed/explain/page.h"
#include "heed/explain/png.h"
#include "heed/explain/svg.h"
#include "heed/explain/terminal.h"
#include "heed/trace/merge.h"
#include "heed/trace/trace_json.h"

namespace heed::cli {
namespace {

bool picks(const AttentionPick& pick) {
  return pick.rollout || !pick.attention.empty() || !pick.layer.empty() || !pick.head.empty();
}

// Where a trace goes to. A drawing of what looks at a sound has room for letters and phonemes.
enum class Place { text, drawing };

// In words or tokens, with or without the end. Pictures show words without the end (of sounds, drawings show tokens)
// and JSON shows all, unless it is asked otherwise. Links need the end's weights to be told from none.
Trace at_level(const TraceView& view, Trace trace, Place place) {
  const bool tokens = view.json || (place == Place::drawing && trace.column_axis().kind == Kind::sound);
  if (view.level.empty() ? !tokens : view.level == "word") trace = by_words(trace);
  if (!view.links() && (view.end.empty() ? !view.json : view.end == "drop"))
    trace = without_end(trace, view.rescale ? RowSums::rescaled_to_one : RowSums::as_left);
  return trace;
}

// The trace as it was asked for, with what was picked for its alignment.
Trace asked(const TraceView& view, const Trace& trace, Place place) {
  if (view.pick.attention == kBothDirections) return picked(at_level(view, trace, place), view.pick);
  return at_level(view, picks(view.pick) ? picked(trace, view.pick) : trace, place);
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

std::string trust_of(const Trace& trace) {
  std::string text;
  for (const TraceTrust& trust : trace.trust) {
    for (const auto& [name, value] : kTrustNumbers) {
      std::string title(name);
      std::replace(title.begin(), title.end(), '_', ' ');
      if (std::isfinite(trust.*value)) text += fmt::format("{} {:.3f}\n", title, trust.*value);
    }
  }
  return text;
}

std::string written(const TraceView& view, const Trace& trace) {
  if (view.json) return to_json(trace) + "\n";
  if (!view.alignment.empty()) {
    const WordAlignment alignment =
        view.links() && view.end != "keep" ? alignment_without_end(trace) : alignment_of(trace);
    return fmt::format("{} ||| {}\n", trace.output().text.text,
                       view.alignment == "hard" ? hard_alignment(alignment) : soft_alignment(alignment));
  }
  std::string text = displayed(trace.output().text.text) + "\n";
  if (trace.alignment) {
    text += draw_terminal(trace, terminal_colour_named(view.color));
  } else if (!trace.column_axis().text.words.empty()) {
    fmt::print(stderr, "{} has no attention to show\n", trace.system);
  }
  return text + alternatives_of(trace) + trust_of(trace) + "\n";
}

}  // namespace

void check_choice(const char* option, const std::string& given, const std::vector<std::string>& known) {
  require(given.empty() || std::find(known.begin(), known.end(), given) != known.end(), "{}: there is no {}{}", option,
          given, did_you_mean(given, known));
}

void TraceView::add_flags(CLI::App& command) {
  command.add_flag("--json", json, "Write traces as JSON, one per line (docs/trace.schema.json)");
  command.add_option("--svg", svg, "Draw the matrix into this SVG file ('-': standard output)");
  command.add_option("--png", png, "Draw it into this PNG file ('-': standard output)");
  command.add_flag("--lines", lines, "Draw lines between the sentences instead of a matrix");
  command.add_option(
      "--html", html,
      "Write a page with everything in it, which opens from disk, into this file ('-': standard output)");
  command.add_option("--alignment", alignment,
                     "Write 'output ||| alignment': hard (Pharaoh, 'source-target ...') or soft (weights)");
  command.add_option("--level", level, "word or token (default: word; token with --json and in drawings of sounds)");
  command.add_option("--end", end, "keep or drop the end of the sentence (default: drop; keep with --json)");
  command.add_flag("--rescale", rescale, "Scale rows so that they sum to 1 without the end");
  command.add_option(
      "--attention", pick.attention,
      "Attention to show: decoder.layer3.source; all layers of encoder.self, decoder.self or decoder.source; or pairs, "
      "both directions of a document and a question that look at each other");
  command.add_option("--layer", pick.layer, "Number of the layer, or mean");
  command.add_option(
      "--head", pick.head,
      "Number of the head, or mean, max, each (those of a label one below another) or (with --gold) best");
  command.add_flag("--rollout", pick.rollout, "Follow the attention through the layers of self-attention below it");
  command.add_option("--color,--colour", color, "Colours of the terminal: auto, true, 256 or none")
      ->capture_default_str();
}

void TraceView::check() const {
  check_choice("--alignment", alignment, {"hard", "soft"});
  check_choice("--level", level, {"word", "token"});
  check_choice("--end", end, {"keep", "drop"});
  require(!(json && !alignment.empty()), "--json and --alignment contradict each other");
  const std::array files{svg, png, html};
  const auto to_output = std::count_if(files.begin(), files.end(), is_standard_output);
  require(to_output < 2 && (to_output == 0 || (!json && alignment.empty())),
          "standard output: it can take one of --svg, --png, --html, --json and --alignment");
  require(!lines || !svg.empty() || !png.empty(), "--lines goes with --svg or --png");
  require(html.empty() || !page_html().empty(), "--html: this heed was built without its page (npm was not there)");
}

bool TraceView::needs_attentions() const { return json || lines || !html.empty() || picks(pick); }

void TraceView::drop_output(std::vector<std::string>& words, std::size_t wanted) const {
  if (json && words.size() == wanted + 1 && is_standard_output(words.back())) words.pop_back();
}

void TraceView::show(const Trace& trace) const {
  if (is_standard_output(svg) || is_standard_output(png) || is_standard_output(html)) return;
  write_output("-", written(*this, asked(*this, trace, Place::text)));
}

void TraceView::write_pictures(std::span<const Trace> traces) const {
  if (traces.empty()) return;
  if (!html.empty()) {
    std::string list;
    for (const Trace& trace : traces) list += (list.empty() ? "[" : ",") + to_json(trace);
    write_output(html, html_page(page_html(), page_scripts(), traces.size() == 1 ? to_json(traces[0]) : list + "]"));
  }
  if (svg.empty() && png.empty()) return;
  const Trace trace =
      lines ? at_level(*this, traces.front(), Place::drawing) : asked(*this, traces.front(), Place::drawing);
  if (!png.empty()) {
    const PictureSize size = least_size(trace, lines);
    check_png_size(size.width, size.height);
  }
  const std::string drawing = lines ? draw_lines_svg(trace, pick.attention) : draw_svg(trace);
  if (!svg.empty()) write_output(svg, drawing);
  if (png.empty()) return;
  write_output(png, draw_png(drawing));
  if (const std::string missing = missing_glyphs(trace); !missing.empty())
    fmt::print(stderr, "warning: {}: no font on this system has {}; the picture shows boxes instead\n",
               output_name(png), displayed(missing));
}

}  // namespace heed::cli
