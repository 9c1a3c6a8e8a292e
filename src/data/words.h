#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/vocabulary.h"

namespace heed {

struct WordOptions {
  Index size = 30'000;  // words, with the three symbols
  Index minimum = 1;    // a word seen less often is unknown
  int column = -1;      // of files with columns between tabs, from 0; -1: the whole line
};

// The most frequent words of all files, in the order of their frequency, equal ones in that of their bytes. Words are
// what stands between white space. Lines that are not UTF-8 are passed over.
std::shared_ptr<const Vocabulary> train_words(const std::vector<std::string>& files, const WordOptions& options);

// A list of words, one a line, from the bytes of its file; `name` stands in errors.
std::shared_ptr<const Vocabulary> words_from(std::string_view text, const std::string& name);

}  // namespace heed
