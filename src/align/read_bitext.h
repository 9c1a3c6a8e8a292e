#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/align/bitext.h"
#include "heed/data/samples.h"
#include "heed/data/vocabulary.h"

namespace heed {

// Words by number, in the order in which they come first.
class WordNumbers {
 public:
  std::int32_t number(std::string_view word);
  const std::string& word(std::int32_t number) const { return *words_[static_cast<std::size_t>(number)]; }
  std::size_t size() const { return words_.size(); }

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT: the standard's name
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> words_;  // keys of numbers_, which never move
};

// How one side of a text becomes numbers: the pieces of a vocabulary, or words as they stand between white space.
struct TextNumbers {
  std::shared_ptr<const Vocabulary> vocabulary = {};  // null: words
  bool lowercase = false;                             // of words
  WordNumbers words = {};

  // False if the text has more than `longest` of them; its words then get no numbers.
  bool number(std::string_view text, std::size_t longest, std::vector<std::int32_t>& numbers);
  // How a number is written.
  std::string text(std::int32_t number) const;
};

struct BitextReading {
  std::vector<std::string> columns = {"source", "target"};  // their names in tables
  TextNumbers source = {}, target = {};
  std::size_t longest = 200;  // words or pieces of a side; a pair with more is left out
};

// Two files of lines, plain or packed, or one table with the source in its first column and the target in its second.
SampleFiles bitext_files(std::vector<std::string> files, bool allow_bad_lines);
// Adds the pairs of the files to `bitext`, one for every line. A pair that cannot be used (an empty side, no UTF-8, too
// long) has two empty sentences there and is counted in the report; too many of them, and files of unequal length, are
// Errors unless they are allowed.
SampleReport read_bitext(const SampleFiles& files, BitextReading& reading, Bitext& bitext);

}  // namespace heed
