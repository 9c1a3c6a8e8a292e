#include "heed/base/utf8.h"

namespace heed {
namespace {

// The length of the well-formed sequence at the front of `text`, which is not empty; 0 if there is none.
std::size_t first_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;  // a continuation, an overlong form, or beyond the last code point
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  // Only the second byte has narrower bounds: against overlong forms, surrogates and what is beyond U+10FFFF.
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  return length;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = first_sequence(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string_view characters_between(std::string_view text, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const auto byte_of = [text](std::ptrdiff_t character) {
    std::size_t byte = 0;
    for (; byte < text.size(); ++byte)
      if ((static_cast<unsigned char>(text[byte]) & 0xc0U) != 0x80 && character-- == 0) break;
    return byte;
  };
  const std::size_t first = byte_of(begin);
  return text.substr(first, byte_of(end) - first);
}

}  // namespace heed
