// Any bytes as a trace in JSON: what is read is used in every way, and what is written of it is read again. An Error is
// a good answer; anything else is a finding.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/error.h"
#include "heed/explain/svg.h"
#include "heed/explain/terminal.h"
#include "heed/trace/merge.h"
#include "heed/trace/pick.h"
#include "heed/trace/trace_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const heed::Trace trace = heed::trace_from_json(bytes, "fuzz");
    const std::string written = heed::to_json(trace);
    if (heed::to_json(heed::trace_from_json(written, "fuzz")) != written) std::abort();
    // Words and ends of anything that was read; what comes of it is a trace again.
    const heed::Trace words = heed::by_words(trace), bare = heed::without_end(words, heed::RowSums::rescaled_to_one);
    heed::trace_from_json(heed::to_json(bare), "fuzz");
    heed::with_joined_frames(trace, 3);
    if (trace.alignment && trace.alignment.size() < 400) {
      heed::draw_svg(trace);
      heed::draw_terminal(trace, heed::TerminalColour::none);
    }
    for (const heed::TraceAttention& each : trace.attentions) heed::picked(trace, {each.name, "", "max", false});
  } catch (const heed::Error& error) {
    const std::string_view said = error.what();
    if (!said.starts_with("fuzz: ") && !said.starts_with("[explain] ")) std::abort();  // it does not name the file
  }
  return 0;
}
