#pragma once

#include <array>
#include <string_view>

#include "heed/base/real.h"

// How much a summary copies from its text. New n-grams are those that the text does not have (See, Liu, Manning 2017,
// figure 6). Fragments are the longest runs of words that the summary shares with the text, taken from left to right;
// with their lengths f in a summary of s words (Grusky, Naaman, Artzi 2018):
//   coverage = Σ f / s,  density = Σ f² / s

namespace heed {

// What the shares are made of; the counts of a corpus are the sums of its summaries'.
struct CopyCounts {
  static constexpr std::size_t kOrder = 4;
  std::array<Index, kOrder> fresh = {}, ngrams = {};  // new and all n-grams of the summary, n = 1..4
  Index copied = 0, squared = 0;                      // Σ f and Σ f²

  CopyCounts& operator+=(const CopyCounts& other);
  // Each is 0 where there is nothing to count.
  double novelty(std::size_t n) const;
  double coverage() const;
  double density() const;
};

// Words are BLEU's 13a tokens in lower case.
CopyCounts copy_counts(std::string_view summary, std::string_view text);

}  // namespace heed
