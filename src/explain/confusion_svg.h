#pragma once

#include <string>

#include "heed/metrics/classification.h"

namespace heed {

// Which labels are taken for which, as a whole SVG file: a row for each right label, a column for each that was given,
// the count in every cell that has one, each cell as light as its share of its row. Labels that are too long for their
// place are shortened and say the whole of it when pointed at, as the cells say their counts and shares. No labels, and
// more than can be read, are an Error.
std::string draw_confusion_svg(const LabelPairs& pairs, const std::string& title = "");

}  // namespace heed
