#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"

// chrF, Popović 2015, as sacreBLEU computes it: the F-score of character n-grams, with precision and recall averaged
// over n = 1..6 and recall weighing β² as much:
//   chrFβ = 100 · (1 + β²) P R / (β² P + R)
// chrF++ (Popović 2017) averages over words and pairs of words too.

namespace heed {

struct ChrfOptions {
  std::size_t characters = 6;  // the longest n-grams
  std::size_t words = 0;       // 2: chrF++
  double beta = 2;
  bool lowercase = false;
  bool white_space = false;  // part of the n-grams
};

// Of each order, characters first and words after; the counts of a corpus are the sums of its sentences'.
struct ChrfCounts {
  struct Order {
    Index hypothesis = 0, reference = 0, matches = 0;
  };
  std::vector<Order> orders;

  ChrfCounts& operator+=(const ChrfCounts& other);
};

// Of one sentence against that of its references, at least one, which it scores best with.
ChrfCounts chrf_counts(std::string_view hypothesis, std::span<const std::string> references,
                       const ChrfOptions& options = {});
// 0..100
double chrf(const ChrfCounts& counts, const ChrfOptions& options = {});
// references[i] are those of hypotheses[i].
double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options = {});
// "chrF2", or "chrF2++" with pairs of words.
std::string chrf_name(const ChrfOptions& options = {});
// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no": sacreBLEU's signature without the version.
std::string chrf_signature(std::size_t references, const ChrfOptions& options = {});

}  // namespace heed
