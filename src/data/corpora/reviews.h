#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/corpora/labelled_corpus.h"

namespace heed {

// Reviews of restaurants, films, tools and hotels that do not exist: documents of 3 to 10 sentences, of which one says
// the verdict and decides the label: good, bad or open. Half of the verdicts are negated ("never dull"), so that no
// word alone tells good from bad; one or two other sentences say the same kind of thing about something else ("my
// sister called hers dull"), and the rest says nothing about quality, with the same small words. Words are in lower
// case, with spaces between. The gold words are the adjective with its negation, or what leaves the verdict open.
inline constexpr Index kReviewShortest = 3, kReviewLongest = 10;  // sentences

// Distinct documents; the same for the same seed.
std::vector<GoldExample> generate_reviews(Index count, std::uint64_t seed);

}  // namespace heed
