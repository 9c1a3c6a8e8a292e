#pragma once

#include <array>
#include <span>

#include "heed/base/real.h"
#include "heed/data/transcripts.h"

// How well words (or phonemes, or letters) are placed in time: the share of the gold begins and ends that lie near
// those that were found. Words that were not recognised have no place, so theirs are missed.

namespace heed {

struct BoundaryCounts {
  static constexpr std::array<double, 3> kTolerances = {0.020, 0.050, 0.100};  // seconds

  Index gold = 0;                    // begins and ends
  Index matched = 0;                 // of words that were recognised
  std::array<Index, 3> within = {};  // of these, as near as each tolerance
  double distance = 0;               // of the matched ones, summed

  BoundaryCounts& operator+=(const BoundaryCounts& other);
  // Of all gold ones; 0 where there are none.
  double share(std::size_t tolerance) const;
  double mean_distance() const;
};

// The words are matched by the way with the fewest errors (error_rate.h).
BoundaryCounts count_boundaries(std::span<const TimedWord> gold, std::span<const TimedWord> found);

}  // namespace heed
