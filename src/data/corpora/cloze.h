#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Questions from any text, as Hill et al. 2016 made the Children's Book Test from books: some sentences of a text, and
// the next one with a word taken out that occurred in them; the answer stands among other words of its kind.
//   names   words with a capital that begin no sentence, and are nowhere in small letters
//   nouns   words in small letters that stand behind an article or its like in a fifth of all their places
//   any     every word of letters
struct ClozeOptions {
  std::vector<std::string> files = {};  // of texts, one per line, plain or packed
  std::filesystem::path folder = {};    // made if it is not there
  std::string words = "nouns";
  Index sentences = 20;  // before the question
  Index step = 0;        // sentences from the beginning of one question to that of the next; 0: none is used twice
  Index candidates = 10;
  double valid = 0.02, test = 0.02;  // shares of the texts
  std::uint64_t seed = 1;
  bool force = false;  // files that are there may be replaced
};

struct ClozeCounts {
  Index texts = 0, short_texts = 0;  // short: without as many sentences
  Index train = 0, valid = 0, test = 0;
};

// train.jsonl, valid.jsonl and test.jsonl of objects with document, question, answer and choices; words stand apart. A
// hash of the text decides where its questions go. All files appear when all are written; one that would be replaced
// without `force`, a line that is no UTF-8, and no question at all are Errors.
ClozeCounts write_cloze(const ClozeOptions& options);

}  // namespace heed
