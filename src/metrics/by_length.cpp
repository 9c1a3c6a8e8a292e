#include "heed/metrics/by_length.h"

#include <algorithm>
#include <map>

#include "heed/base/error.h"

namespace heed {

std::vector<LengthBucket> bleu_by_length(std::span<const Index> lengths, std::span<const BleuCounts> counts,
                                         Index width, const BleuOptions& options) {
  require(width >= 1, "[by_length] a bucket must be at least 1 wide, not {}", width);
  require(lengths.size() == counts.size(), "[by_length] {} lengths for {} sentences", lengths.size(), counts.size());
  struct Sum {
    Index sentences = 0;
    BleuCounts counts;
  };
  std::map<Index, Sum> sums;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Sum& sum = sums[(std::max<Index>(lengths[i], 1) - 1) / width];
    ++sum.sentences;
    sum.counts += counts[i];
  }
  std::vector<LengthBucket> buckets;
  buckets.reserve(sums.size());
  for (const auto& [place, sum] : sums)
    buckets.push_back({place * width + 1, (place + 1) * width, sum.sentences, bleu(sum.counts, options)});
  return buckets;
}

}  // namespace heed
