#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/real.h"

// Alignment error rate, Och, Ney 2003, with sure links S, possible links P ⊇ S and a proposed alignment A, all counts
// summed over the corpus:
//   AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|),  precision = |A ∩ P| / |A|,  recall = |A ∩ S| / |S|

namespace heed {

// Links of one sentence: word of the source, word of the target, from 0; sorted, each once.
struct AlignmentLinks {
  using Link = std::pair<Index, Index>;
  std::vector<Link> sure;
  std::vector<Link> possible;  // the sure ones among them
};

// "0-0 1-2 2?1 3p1": i-j is a sure link, i?j and ipj are possible ones. Words are counted from `first`: 0 or 1.
// An Error if the line is anything else.
AlignmentLinks parse_alignment(std::string_view line, Index first = 0);

struct AlignmentCounts {
  Index proposed = 0, sure = 0, proposed_sure = 0, proposed_possible = 0;

  AlignmentCounts& operator+=(const AlignmentCounts& other);
  double error_rate() const;
  double precision() const;
  double recall() const;
};

// What is proposed are all links, sure and possible.
AlignmentCounts compare_alignment(const AlignmentLinks& proposed, const AlignmentLinks& gold);

}  // namespace heed
