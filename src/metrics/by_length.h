#pragma once

#include <span>
#include <vector>

#include "heed/metrics/bleu.h"

namespace heed {

// BLEU of the sentences whose sources have a like length, as in Bahdanau, Cho, Bengio 2015, figure 2.
struct LengthBucket {
  Index shortest = 0, longest = 0;  // words of the source
  Index sentences = 0;
  Bleu bleu;
};

// Buckets of `width` lengths, 1..width first, that have a sentence. `lengths` and `counts` are of the same sentences;
// an empty source counts as one word.
std::vector<LengthBucket> bleu_by_length(std::span<const Index> lengths, std::span<const BleuCounts> counts,
                                         Index width = 10, const BleuOptions& options = {});

}  // namespace heed
