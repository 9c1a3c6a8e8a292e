#include "heed/jobs/given_vectors.h"

#include <algorithm>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/word_vectors.h"

namespace heed {
namespace {

constexpr std::int32_t kFirstWord = kEnd + 1;  // the symbols before it have no vectors

}  // namespace

std::vector<std::string> words_with_vectors(const std::string& file) {
  return read_word_vectors(file, [](std::string_view) { return true; }).words;
}

std::string give_vectors(Bundle& bundle, const std::string& file) {
  const std::vector<WordTable> tables = bundle.model->word_tables();
  require(!tables.empty(), "--vectors: {} takes no vectors of words", bundle.system->name);

  std::unordered_map<std::string, Index> wanted;  // the row of each word's vector, -1 where there is none
  for (std::size_t i = 0; i < tables.size(); ++i)
    for (std::int32_t id = kFirstWord; id < bundle.codes.inputs[i]->size(); ++id) {
      const std::string word = bundle.codes.inputs[i]->piece(id);
      wanted.emplace(word, -1);
      wanted.emplace(lowercased(word), -1);
    }
  const WordVectors given =
      read_word_vectors(file, [&wanted](std::string_view word) { return wanted.count(std::string(word)) > 0; });
  for (std::size_t i = 0; i < given.words.size(); ++i) wanted[given.words[i]] = static_cast<Index>(i);

  Index found = 0, words = 0;
  const Vocabulary* seen = nullptr;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Vocabulary* vocabulary = bundle.codes.inputs[i].get();
    if (vocabulary == seen) continue;  // a table that inputs share
    seen = vocabulary;
    Tensor vectors = tables[i].vectors.value(), frozen = tables[i].frozen ? tables[i].frozen.value() : Tensor();
    const Index width = vectors.size(1);
    require(given.vectors.size(1) == width, "--vectors: {} has vectors {} wide, but the model's are {}; set embedding",
            file, given.vectors.size(1), width);
    for (std::int32_t id = kFirstWord; id < vocabulary->size(); ++id) {
      const std::string word = vocabulary->piece(id);
      Index row = wanted[word];
      if (row < 0) row = wanted[lowercased(word)];
      ++words;
      if (row < 0) continue;
      ++found;
      std::copy_n(given.vectors.data() + row * width, width, vectors.data() + id * width);
      if (frozen) frozen.data()[id] = Real{1};
    }
  }
  require(found > 0, "--vectors: {} has a vector for none of the vocabulary's {} words", file, words);
  return fmt::format("vectors: {} of {} words have one; {} do not and are learned from the start", found, words,
                     words - found);
}

}  // namespace heed
