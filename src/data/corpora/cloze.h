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
//   nouns   words in small letters, or Chinese ones, that stand behind an article or its like in a fifth of all their
//           places; Chinese has 的, 这个, 一个 and measure words for it
//   any     every word of letters
// A Chinese word has two characters at least, and the texts must be cut into words at blanks already: where they are
// not, they are cut into characters, about which nothing is asked.
struct ClozeOptions {
  std::vector<std::string> files = {};  // of texts, one per line, plain or packed
  std::filesystem::path folder = {};    // made if it is not there
  std::string words = "nouns";
  std::string cut = "tokens";  // how texts are cut into words: tokens, or blanks that stand between them
  Index sentences = 20;        // before the question
  Index step = 0;         // sentences from the beginning of one question to that of the next; 0: none is used twice
  Index candidates = 10;  // 0: none are given, every word of the document is one
  bool with_question = false;  // the question, with its blank, is the document's last sentence, as in the Chinese sets
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
