#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Classes of words that follow the same words, by exchange (Kneser, Ney 1993; in this form Uszkoreit, Brants 2008,
// Distributed word clustering, section 3): word after word, from the most frequent on, moves to the class that makes
//   Σ_i log p(c(w_i) | w_{i-1}) p(w_i | c(w_i))
// largest, until none moves or the rounds are over. The history is a word and not its class, unlike in mkcls, which Cui
// et al. used: a move then changes only the sums of the moved word's own histories, and is found exactly at once.
struct WordClassOptions {
  Index vocabulary = 0;  // every id is below it
  Index classes = 1000;  // at most; of fewer than ten words each at the mean there are fewer
  Index rounds = 10;
};

// The class of every id. Symbols are classes of their own, numbered as they are, so that classes can take the place of
// words; a word that no sentence has is in the class of the unknown.
std::vector<std::int32_t> word_classes(std::span<const std::vector<std::int32_t>> sentences,
                                       const WordClassOptions& options);

}  // namespace heed
