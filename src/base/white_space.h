#pragma once

#include <string_view>

namespace heed {

// Whether a text has nothing but blanks, tabs and line ends.
inline bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace heed
