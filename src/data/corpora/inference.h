#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/corpora/labelled_corpus.h"

namespace heed {

// Pairs of a premise and a hypothesis about one scene: entailment, neutral or contradiction. They differ in one thing
// that decides: a wider or narrower word (devours, eats; apple, fruit), words that exclude each other (open, closed), a
// place, a quantity, who does it to whom; and in others that do not: the passive, a lost adjective. Either side may be
// negated, which turns the direction round: who does not eat a fruit eats no apple. So which word was there first
// matters, and no bag of words has all of it. Words are in lower case, with spaces between. The links join the words
// that say the same part; the evidences are those that decide.

// Distinct pairs; the same for the same seed.
std::vector<GoldExample> generate_inference_pairs(Index count, std::uint64_t seed);

}  // namespace heed
