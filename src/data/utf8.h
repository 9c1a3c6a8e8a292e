#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

// The length of the longest prefix that is well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no
// surrogates, nothing beyond U+10FFFF, nothing cut off.
std::size_t valid_utf8_prefix(std::string_view text);
inline bool valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

}  // namespace heed
