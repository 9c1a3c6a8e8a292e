#pragma once

#include <cstdint>
#include <span>

#include "heed/metrics/bleu.h"

namespace heed {

// Paired bootstrap resampling, Koehn 2004: both systems are scored on the same random draws of the test's sentences,
// with replacement. What hardly ever turns round on other draws is no accident of the test set.
struct PairedBootstrap {
  double difference = 0;     // BLEU of the second system minus the first's, on the test set itself
  double low = 0, high = 0;  // the difference in the middle 95 % of the draws
  double p_value = 1;        // (1 + draws in which the worse system is not worse) / (1 + draws)
};

// The counts of each sentence under both systems. The same seed gives the same draws whatever the systems.
PairedBootstrap paired_bootstrap(std::span<const BleuCounts> first, std::span<const BleuCounts> second,
                                 Index draws = 1000, std::uint64_t seed = 1, const BleuOptions& options = {});

}  // namespace heed
