#include "heed/base/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace heed {
namespace {

constexpr char32_t kEmojiStyle = 0xfe0f;

const utf8proc_property_t& properties(char32_t code) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
}
bool is_mark(char32_t code) {
  const auto category = properties(code).category;
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}
bool is_flag_letter(char32_t code) { return properties(code).boundclass == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR; }
// Would turn the order of what follows: marks of direction, embeddings, overrides, isolates.
bool turns_direction(char32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}
// The separators of lines and of paragraphs.
bool ends_line(char32_t code) { return code == 0x2028 || code == 0x2029; }

// Bytes that are no UTF-8 stand alone, as controls do.
utf8proc_int32_t code_for_breaks(const Character& character) {
  return character.valid ? static_cast<utf8proc_int32_t>(character.code) : 0;
}

}  // namespace

void Characters::Iterator::decode_beyond_ascii() {
  utf8proc_int32_t code = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest_.data()),
                                       static_cast<utf8proc_ssize_t>(rest_.size()), &code);
  if (length > 0) {
    first_ = {rest_.substr(0, static_cast<std::size_t>(length)), static_cast<char32_t>(code), true};
  } else {
    first_ = {rest_.substr(0, 1), kReplacementCharacter, false};
  }
}

std::size_t valid_utf8_prefix(std::string_view text) {
  for (const Character& character : Characters(text))
    if (!character.valid) return static_cast<std::size_t>(character.bytes.data() - text.data());
  return text.size();
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for ([[maybe_unused]] const Character& character : Characters(text)) ++count;
  return count;
}

std::string_view characters_between(std::string_view text, std::ptrdiff_t begin, std::ptrdiff_t end) {
  std::ptrdiff_t number = 0;
  std::size_t first = text.size(), last = text.size(), at = 0;
  for (const Character& character : Characters(text)) {
    if (number == begin) first = at;
    if (number == end) last = at;
    at += character.bytes.size();
    ++number;
  }
  return text.substr(first, last - first);
}

bool is_white_space(char32_t code) {
  const auto bidirectional = properties(code).bidi_class;
  return bidirectional == UTF8PROC_BIDI_CLASS_WS || bidirectional == UTF8PROC_BIDI_CLASS_B ||
         bidirectional == UTF8PROC_BIDI_CLASS_S || properties(code).category == UTF8PROC_CATEGORY_ZS;
}

bool is_control(char32_t code) { return properties(code).category == UTF8PROC_CATEGORY_CC; }

bool is_small_letter(char32_t code) { return properties(code).category == UTF8PROC_CATEGORY_LL; }

bool is_capital_letter(char32_t code) { return properties(code).category == UTF8PROC_CATEGORY_LU; }

bool is_word_character(char32_t code) {
  const auto category = properties(code).category;
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME) || category == UTF8PROC_CATEGORY_ND ||
         category == UTF8PROC_CATEGORY_NL;
}

bool is_ideographic(char32_t code) {
  return (code >= 0x3040 && code <= 0x30ff) || (code >= 0x31f0 && code <= 0x31ff) ||
         (code >= 0x3400 && code <= 0x4dbf) || (code >= 0x4e00 && code <= 0x9fff) ||
         (code >= 0xf900 && code <= 0xfaff) || (code >= 0x20000 && code <= 0x3ffff);
}

bool needs_glyph(char32_t code) {
  return !is_white_space(code) && !is_control(code) && !turns_direction(code) && !properties(code).ignorable;
}

std::string lowercased(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  std::array<utf8proc_uint8_t, 4> bytes{};
  for (const Character& character : Characters(text)) {
    if (!character.valid) {
      result += character.bytes;
      continue;
    }
    const auto length =
        utf8proc_encode_char(utf8proc_tolower(static_cast<utf8proc_int32_t>(character.code)), bytes.data());
    result.append(bytes.begin(), bytes.begin() + length);
  }
  return result;
}

std::vector<Grapheme> split_graphemes(std::string_view text) {
  std::vector<Grapheme> result;
  utf8proc_int32_t before = 0, state = 0;
  for (const Character& character : Characters(text)) {
    const utf8proc_int32_t code = code_for_breaks(character);
    const int columns = character.valid ? utf8proc_charwidth(code) : 1;
    // The library is asked about every pair, since it remembers in `state` what came before.
    const bool begins = utf8proc_grapheme_break_stateful(before, code, &state);
    if (begins || result.empty()) {
      result.push_back({character.bytes, character.code, character.valid, columns});
    } else {
      Grapheme& whole = result.back();
      whole.bytes = {whole.bytes.data(), whole.bytes.size() + character.bytes.size()};
      const bool picture = character.code == kEmojiStyle || is_flag_letter(character.code);
      whole.columns = picture ? 2 : std::max(whole.columns, columns);
    }
    before = code;
  }
  return result;
}

std::vector<DisplayCharacter> display_characters(std::string_view text) {
  std::vector<DisplayCharacter> result;
  for (const Grapheme& grapheme : split_graphemes(text)) {
    const char32_t code = grapheme.code;
    if (!grapheme.valid || is_control(code) || ends_line(code) || turns_direction(code)) {
      result.push_back({"\ufffd", 1});
    } else if (grapheme.columns > 0) {
      result.push_back({std::string(grapheme.bytes), grapheme.columns});
    } else if (is_mark(code) && needs_glyph(code)) {
      result.push_back({std::string("\u25cc").append(grapheme.bytes), 1});  // a mark of nothing stands on a circle
    } else if (needs_glyph(code)) {
      result.push_back({std::string(grapheme.bytes), 1});
    }
  }
  return result;
}

std::string displayed(std::string_view text) {
  std::string result;
  for (const DisplayCharacter& character : display_characters(text)) result += character.text;
  return result;
}

Index display_width(std::string_view text) {
  Index width = 0;
  for (const DisplayCharacter& character : display_characters(text)) width += character.width;
  return width;
}

}  // namespace heed
