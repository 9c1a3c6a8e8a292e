#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// What a reader sees as one character: a letter with its marks, a flag, a family of joined emoji.
struct DisplayCharacter {
  std::string text;
  int width = 1;  // columns of a terminal: 1 or 2
};

// A text as a terminal shows it. Controls, marks of direction and bytes that are no UTF-8 become U+FFFD, so nothing in
// a text can move the cursor, change colours or turn lines around.
std::vector<DisplayCharacter> display_characters(std::string_view text);
// These as one text again: fit to be written to a terminal.
std::string displayed(std::string_view text);
// The columns that these take.
Index display_width(std::string_view text);

}  // namespace heed
