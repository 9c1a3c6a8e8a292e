#pragma once

#include <span>
#include <string>

#include "heed/trace/pick.h"
#include "heed/trace/trace.h"

namespace CLI {
class App;
}

namespace heed::cli {

// How traces are shown: what `heed explain` and `heed view` have in common.
struct TraceView {
  bool json = false, rescale = false, lines = false;
  std::string svg, png, html;  // files; "-" is the standard output
  std::string alignment, level, end, color = "auto";
  AttentionPick pick;

  void add_flags(CLI::App& command);
  // Contradictions and unknown names: an Error.
  void check() const;
  // Whether words that belong together are written, in place of weights and pictures.
  bool links() const { return !json && alignment == "hard"; }
  bool pictures() const { return !svg.empty() || !png.empty() || !html.empty(); }
  // Whether all attentions are needed, not the alignment alone.
  bool needs_attentions() const;
  // `--json -` says where JSON goes in any case: takes the "-" from the words of the command line.
  void drop_output(std::vector<std::string>& words, std::size_t wanted) const;
  // Writes one trace to standard output as it is asked for; nothing where a picture goes there.
  void show(const Trace& trace) const;
  // Writes the files: the page has all traces, the drawings are of the first.
  void write_pictures(std::span<const Trace> traces) const;
};

// An Error with the nearest known name unless `given` is empty or known.
void check_choice(const char* option, const std::string& given, const std::vector<std::string>& known);

}  // namespace heed::cli
