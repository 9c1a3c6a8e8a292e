#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/trace/trace.h"

// Alignments that other toolkits wrote, as traces. What the toolkits print (found in their sources):
//   marian    marian-decoder --alignment soft|hard, with or without --n-best and --word-scores
//               target ||| 0.9,0.1 0.2,0.8               0 ||| target ||| 0-0 1-1 ||| F0= -1.2 ||| -0.4
//   nematus   translate.py --output_alignment, amun; or a line of JSON a sentence from score.py
//               0 ||| target ||| 0 ||| source ||| 3 2    and a line of weights a target word, then an empty line
//               {"matrix": [[0.9, 0.1]], "source_sent": "source", "target_sent": "target"}
//   sockeye   --output-type translation_with_alignment_matrix or translation_with_alignments
//               as nematus, with ||| 3 ||| 2             target, a tab, 0-0 1-1
//   fairseq   fairseq-generate --print-alignment hard|soft
//               S-0, tab, source    H-0, tab, score, tab, target    P-0, tab, scores    A-0, tab, 0-0 1-1 or weights
//   pharaoh   a line per sentence, hard or soft, of fast_align, Heed and others
//               0-0 1-1                                  0.9,0.1 0.2,0.8
// Hard links are weights of 1. Where there is one row or column more than words, it is that of the sentence's end.
// Pieces of words ("Net@@ any@@ ahu", "▁Net any ahu") are put together to words again.

namespace heed {

// The lines of a file, and its name for messages.
struct NamedLines {
  std::string name;
  std::vector<std::string> lines;
};

struct ImportFormat {
  std::string name, summary;
};
const std::vector<ImportFormat>& import_formats();

struct ImportText {
  NamedLines dump;
  std::optional<NamedLines> source, target;  // sentences, a line each, for formats that do not bring them
};
// A trace a sentence, or one a translation in lists of n best; in the order of the sentences. What is not as the format
// says is an Error with the file and the line.
std::vector<Trace> import_traces(const std::string& format, const ImportText& text);
// The same from files, packed or not; "-" is the standard input, an empty name no file.
std::vector<Trace> import_traces(const std::string& format, const std::string& dump, const std::string& source = "",
                                 const std::string& target = "");

}  // namespace heed
