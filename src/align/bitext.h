#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Sentences as numbers of words, one behind the other: four bytes per word and eight per sentence.
class NumberedSentences {
 public:
  using Sentence = std::span<const std::int32_t>;

  // Numbers are not negative.
  void add(Sentence words) {
    words_.insert(words_.end(), words.begin(), words.end());
    ends_.push_back(words_.size());
    longest_ = std::max(longest_, words.size());
    for (const std::int32_t word : words)
      vocabulary_ = std::max<std::size_t>(vocabulary_, static_cast<std::size_t>(word) + 1);
  }
  Sentence operator[](std::size_t number) const {
    return Sentence(words_).subspan(begin(number), ends_[number] - begin(number));
  }
  std::size_t size() const { return ends_.size(); }
  // Where the words of a sentence begin among all words.
  std::size_t begin(std::size_t number) const { return number == 0 ? 0 : ends_[number - 1]; }
  const std::vector<std::int32_t>& words() const { return words_; }
  std::size_t longest() const { return longest_; }        // words of the longest sentence
  std::size_t vocabulary() const { return vocabulary_; }  // every number is below it

 private:
  std::vector<std::int32_t> words_;
  std::vector<std::size_t> ends_;
  std::size_t longest_ = 0, vocabulary_ = 0;
};

// Sentences and their translations, line by line. A sentence may be empty; its pair then has nothing to align.
struct Bitext {
  NumberedSentences source, target;

  std::size_t size() const { return source.size(); }
};

}  // namespace heed
