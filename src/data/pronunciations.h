#pragma once

#include <map>
#include <string>
#include <string_view>

namespace heed {

// How words are said, from a dictionary of CMU's or Sphinx's form: lines `WORD  P1 P2 ...`, other ways to say the same
// word as `WORD(2)`. Lines that begin with ;;; or #, and what stands behind a # between blanks, are comments.
class Pronunciations {
 public:
  // A line without phonemes, a file without words and one that is no UTF-8 are Errors with their place.
  explicit Pronunciations(const std::string& file);

  struct Said {
    std::string phonemes;  // of all words, with blanks between them
    std::string missing;   // the first word that the dictionary lacks; empty if it has all
  };
  // Each word by its first pronunciation. It is looked for as it is written, then in capitals, then in small letters
  // (of ASCII).
  Said operator()(std::string_view text) const;

  std::size_t size() const { return words_.size(); }

 private:
  const std::string* find(const std::string& word) const;

  std::map<std::string, std::string, std::less<>> words_;
};

}  // namespace heed
