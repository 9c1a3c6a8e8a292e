#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/transcripts.h"
#include "heed/tensor/tensor.h"
#include "heed/trace/trace.h"

namespace heed {

// When each unit of an output was said, by where the model looked when it wrote it.
struct UnitTimes {
  Transcript transcript;  // without a name; units are the tokens, without the end and white space
  // What is strange about where it looked: it went back or stayed at one place (and may have written something more
  // than once), or passed over a stretch (and may have left something out). A sentence each, for a warning. It stayed
  // where a stretch of kStay seconds is covered by more units than anybody says in that time:
  //   Σ_{j in the stretch} Σ_i a_ij > kMostSaid
  std::vector<std::string> doubts;
};

// Weights [n, m] of the output's tokens, with or without the end's row, over frames. The frames are shared out among
// the tokens, each of which gets a stretch behind that of the one before, so that the weight on the tokens' own
// stretches is largest:
//   max Σ_j a_{i(j), j},  i(j) <= i(j + 1) <= i(j) + 1,  i(0) = 0, i(m - 1) = n - 1
// A token begins and ends where its weights are still a tenth of its largest. Between neighbours that are close to each
// other the time is halved. The confidence of a unit is its probability, that of a word the geometric mean of its
// units'.
UnitTimes unit_times(const TraceText& output, const Tensor& weights, const FrameTimes& frames,
                     std::span<const double> log_probabilities);

// The monotone path above: of each of n rows where its stretch ends, [n]; rows beyond the frames have empty stretches.
std::vector<Index> monotone_path(const Tensor& weights);

}  // namespace heed
