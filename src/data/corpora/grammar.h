#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/base/real.h"

namespace heed {

// A corpus that needs no files: sentences of a small English grammar and what they are in a French with its gender and
// number agreement, adjectives that change places with nouns, object pronouns before the verb, two-word negation and
// past, elision and contraction; and which words belong together. Words are in lower case, with spaces between.
struct GrammarPair {
  std::string english, french;
  std::string links;  // Pharaoh's: "0-0 1-2 2-1", English first
};
inline constexpr Index kGrammarShortest = 3, kGrammarLongest = 25;  // words of the English, with the full stop

GrammarPair generate_grammar_pair(RandomSequence& random);
// Distinct by their English; the same for the same seed. A count that the grammar cannot reach is an Error.
std::vector<GrammarPair> generate_grammar_pairs(Index count, std::uint64_t seed);

}  // namespace heed
