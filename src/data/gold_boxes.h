#pragma once

#include <string>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Where the thing that a word names is to be seen: a box in fractions of the picture's width and height.
struct GoldBox {
  Index word = 0;  // of the sample's first output, from 0, between white space
  double left = 0, top = 0, right = 1, bottom = 1;
};

// One line for each sample: {"boxes": [{"word": 3, "box": [left, top, right, bottom]}, ...]}.
std::string gold_boxes_line(const std::vector<GoldBox>& boxes);
// An Error that names the line if one is none of these.
std::vector<std::vector<GoldBox>> read_gold_boxes(const std::string& file);

}  // namespace heed
