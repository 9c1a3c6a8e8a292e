#pragma once

#include <vector>

#include "heed/data/gold_boxes.h"
#include "heed/metrics/aer.h"
#include "heed/trace/trace.h"

namespace heed {

// How much of its weight a model puts on the places that are known to decide, and what uniform weights would put there.
// A row that looks at nothing puts nothing there.
struct GoldShare {
  double share = 0, uniform = 0;  // means over the rows
  double hits = 0;                // rows whose largest weight lies there: the pointing game of Zhang et al. 2016
  Index rows = 0;

  GoldShare& operator+=(const GoldShare& other);
};

// The weight of each word between white space of the text that is looked at, over all rows of the alignment: [words].
// None without an alignment, or where no text is looked at.
std::vector<double> weights_of_words(const Trace& trace);

// Of the alignment between texts whose words stand between white space. `gold` links a word that is looked at with the
// word that looks, both from 0; of a label, or where there is but one row, with that. Words without links take no part.
// Without an alignment there are no rows.
GoldShare gold_share(const Trace& trace, const AlignmentLinks& gold);

// Of words that name things in a picture: the weight inside the box, of a region that lies partly in it by the part of
// its area; a hit is a largest weight whose region has its middle in the box. Uniform weights put the box's area there.
GoldShare box_share(const Trace& trace, const std::vector<GoldBox>& gold);

}  // namespace heed
