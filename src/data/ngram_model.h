#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Kneser, Ney 1995, Improved backing-off for m-gram language modeling, interpolated as in Chen, Goodman 1999:
//   p(w | h) = max(a(h w) - D, 0) / Σ_v a(h v) + γ(h) p(w | h'),   h' is h without its first word
//   p(w)     = max(a(w) - D, 0) / Σ_v a(v) + γ / (vocabulary - 1)   for the begin of a sentence never comes
// a is the count of the longest grams and of those that begin a sentence; of all others the number of different words
// before them, since what follows a longer history in vain is to be judged by how many histories it follows. D is
// n1 / (n1 + 2 n2) of the order, n_r being how many grams have a = r (Ney, Essen, Kneser 1994), or 1/2 where there is
// no gram with a = 1 to tell it. γ(h) is what is left of 1. Grams that are left out because they are rare give what
// they had to γ, so that the probabilities behind every history sum to 1 whatever is left out.
class NgramModel {
 public:
  using Words = std::vector<std::int32_t>;
  struct Options {
    Index order = 8;
    Index vocabulary = 0;  // words that there are, seen or not; every id is below it
    Index least = 1;       // grams of three and more words that occur less often are left out
  };

  // Sentences without begin and end, which are added.
  NgramModel(std::span<const Words> sentences, const Options& options);
  // From the bytes of bytes(); `name` leads the Errors of what is damaged.
  NgramModel(std::string_view bytes, const std::string& name);

  // log p of the words and the end of the sentence.
  double log_probability(std::span<const std::int32_t> sentence) const;
  // p of a word behind others, of which the last ones count; a sentence begins with kBegin.
  double probability(std::span<const std::int32_t> history, std::int32_t word) const;

  Index order() const { return static_cast<Index>(levels_.size()); }
  Index vocabulary() const { return vocabulary_; }
  // Different grams of so many words that are kept.
  Index grams(Index order) const { return static_cast<Index>(levels_[static_cast<std::size_t>(order - 1)].size()) - 1; }
  std::string bytes() const;

 private:
  // A gram. Those that begin with the same words stand side by side, by their last words; those that go on with one
  // more word are [rest, rest of the next gram) of the next level.
  struct Gram {
    std::int32_t word = 0;
    std::uint32_t rest = 0;
    float probability = 0, left = 1;  // p of the last word behind the others; γ of all of them as a history
  };
  using Level = std::vector<Gram>;  // with one more behind the last, which only ends its rest
  struct Counts;
  class Learner;

  // The gram of `level` that goes on with the word behind `parent`, a gram of the level above it; -1: there is none.
  std::int64_t child(std::size_t level, std::int64_t parent, std::int32_t word) const;
  double uniform() const { return 1 / static_cast<double>(vocabulary_ - 1); }
  std::int64_t find(std::span<const std::int32_t> words) const;

  Index vocabulary_ = 0;
  double left_ = 1;  // γ of no history
  std::vector<Level> levels_;
};

}  // namespace heed
