// Any bytes as a dump of another toolkit with its sentences: three files with a line of one zero byte between them,
// read as every format. An Error is a good answer; anything else is a finding.

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "heed/base/error.h"
#include "heed/trace/import.h"
#include "heed/explain/svg.h"

namespace {

void check(const heed::Trace& trace) {
  const auto fits = [](const heed::TraceText& text, heed::Index count) {
    if (static_cast<heed::Index>(text.tokens.size()) != count) std::abort();
    for (const heed::TraceToken& token : text.tokens)
      if (token.begin > token.end || token.word >= static_cast<heed::Index>(text.words.size())) std::abort();
  };
  fits(trace.axis("target").text, trace.alignment.size(0));
  fits(trace.axis("source").text, trace.alignment.size(1));
  for (const heed::Real weight : trace.alignment.values())
    if (!(weight >= 0 && weight < 2)) std::abort();
  if (trace.alignment.size() > 0 && trace.alignment.size() < 400) heed::draw_alignment_svg(trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<heed::NamedLines> files(3);
  std::size_t file = 0;
  std::string line;
  for (std::size_t i = 0; i <= size; ++i) {
    if (i < size && data[i] != '\n') {
      line += static_cast<char>(data[i]);
    } else if (line.size() == 1 && line[0] == 0 && file < 2) {
      ++file, line.clear();
    } else {
      files[file].lines.push_back(std::exchange(line, {}));
    }
  }
  for (std::size_t i = 0; i < 3; ++i) files[i].name = "fuzz";
  for (const heed::ImportFormat& format : heed::import_formats()) {
    try {
      for (const heed::Trace& trace : heed::import_traces(format.name, heed::ImportText{files[0], files[1], files[2]}))
        check(trace);
    } catch (const heed::Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz")) std::abort();  // an error that does not name the file
    }
  }
  return 0;
}
