#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// News of a few sentences with a headline. One sentence, somewhere among others about other people and places, says who
// did what, in the active, in the passive or as hearsay; the headline says it in a few words, in the present. People
// and places have names from more syllables than any vocabulary holds, so that they can only be copied. Words stand
// between single spaces.
struct HeadlinePair {
  std::string text, headline;
  std::string links;    // Pharaoh's, text first: where each word of the headline comes from
  Index sentence = 0;   // that the headline is about, from 0
  Index sentences = 0;  // of the text
};

// Distinct by their texts; the same for the same seed.
std::vector<HeadlinePair> generate_headlines(Index count, std::uint64_t seed);

}  // namespace heed
