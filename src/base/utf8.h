#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

// The length of the longest prefix that is well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no
// surrogates, nothing beyond U+10FFFF, nothing cut off.
std::size_t valid_utf8_prefix(std::string_view text);
// The number of characters (Unicode code points) of well-formed text.
inline std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0U) != 0x80 ? 1 : 0;
  return count;
}
// The characters from `begin` up to but not including `end`, counted in code points, of well-formed text.
std::string_view characters_between(std::string_view text, std::ptrdiff_t begin, std::ptrdiff_t end);
inline bool valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

}  // namespace heed
