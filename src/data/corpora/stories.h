#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/corpora/labelled_corpus.h"

namespace heed {

// Small stories in which people who do not exist carry things to places, and a question about one of them whose answer,
// a word of the story, is left blank. Two or three other people carry other things elsewhere in the same words, and
// some sentences say more about the same people, so that only what the question names leads to the answer. Words are in
// lower case, with spaces between; the blank is XXXXX. The label is the answer, the texts are the story and the
// question, and the gold words are those of the sentence that has the answer.
inline constexpr Index kStoryShortest = 4, kStoryLongest = 7;  // sentences

// Distinct stories; the same for the same seed.
std::vector<GoldExample> generate_stories(Index count, std::uint64_t seed);

}  // namespace heed
