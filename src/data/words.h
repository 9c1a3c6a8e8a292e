#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/training_text.h"
#include "heed/data/vocabulary.h"
#include "heed/data/word_cutting.h"

namespace heed {

struct WordOptions {
  Index size = 30'000;  // words, with the three symbols
  Index minimum = 1;    // a word seen less often is unknown
  WordCutting cutting = WordCutting::white_space;
  std::vector<std::string> more = {};  // words that follow those of the texts, whatever the size
};

// The most frequent words of all texts, in the order of their frequency, equal ones in that of their bytes. What cuts
// texts into tokens or letters is kept in a file that ends with .tokens.txt or .letters.txt.
std::shared_ptr<const Vocabulary> train_words(const TrainingText& text, const WordOptions& options);

// `vocabulary` with the words of `text` that it lacks behind its own, in the order in which they come and as they are
// first written there: what a model that copies can write about that text. Ids beyond them are the unknown word. Null
// of a vocabulary of subwords, which spells every word.
std::shared_ptr<const Vocabulary> extended_by(const std::shared_ptr<const Vocabulary>& vocabulary,
                                              std::string_view text);

// A list of words, one per line, from the bytes of its file; `name` stands in errors.
std::shared_ptr<const Vocabulary> words_from(std::string_view text, const std::string& name, WordCutting cutting);

}  // namespace heed
