#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/data/pairs.h"
#include "heed/data/text_file.h"
#include "heed/data/word_links.h"

namespace heed {

// The pairs of lines of a parallel corpus, with what is wrong with the lines themselves counted: not UTF-8, empty,
// without a partner. `tsv` is one file instead of the two lists; `alignments` may be empty.
class PairLines {
 public:
  PairLines(const std::vector<std::string>& source_files, const std::vector<std::string>& target_files,
            const std::string& tsv, const std::string& alignments);

  struct Line {
    std::string source, target;
    WordLinks links;
    bool links_valid = true;
    std::size_t source_words = 0, target_words = 0;  // between white space; counted only for links
    Index number = 0;                                // over all files, from 0
    std::string file;                                // of the source
    Index file_line = 0;                             // in it, from 1
  };
  // False at the end of the last file.
  bool next(Line& line);
  PairReport& report() { return report_; }

 private:
  bool next_pair(Line& line);
  bool next_of_files(Line& line);
  bool next_of_tsv(Line& line);
  bool usable(const Line& line);

  std::deque<std::string> source_files_, target_files_;  // still to be opened
  std::optional<LineReader> source_, target_, tsv_, alignments_;
  Index number_ = 0;
  PairReport report_;
};

}  // namespace heed
