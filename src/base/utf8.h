#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"

// Text as Unicode sees it, by utf8proc. No other file decodes UTF-8 or knows a property of a character.

namespace heed {

inline constexpr char32_t kReplacementCharacter = 0xfffd;

// One character (Unicode code point) of a text.
struct Character {
  std::string_view bytes;
  char32_t code = 0;
  bool valid = true;  // false for one byte that begins no well-formed sequence (Unicode 15, table 3-7); code is U+FFFD
};

// The characters of a text in their order: for (const Character& c : Characters(text)).
class Characters {
 public:
  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) { decode(); }
    const Character& operator*() const { return first_; }
    const Character* operator->() const { return &first_; }
    Iterator& operator++() {
      rest_.remove_prefix(first_.bytes.size());
      decode();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return rest_.empty(); }

   private:
    void decode() {
      if (rest_.empty()) return;
      const auto first = static_cast<unsigned char>(rest_.front());
      if (first < 0x80) {  // ASCII, which most texts mostly are
        first_ = {rest_.substr(0, 1), first, true};
      } else {
        decode_beyond_ascii();
      }
    }
    void decode_beyond_ascii();

    std::string_view rest_;
    Character first_;  // of rest_
  };

  explicit Characters(std::string_view text) : text_(text) {}
  Iterator begin() const { return Iterator(text_); }
  static std::default_sentinel_t end() { return {}; }

 private:
  std::string_view text_;
};

// The length of the longest prefix that is well-formed: no overlong forms, no surrogates, nothing beyond U+10FFFF,
// nothing cut off.
std::size_t valid_utf8_prefix(std::string_view text);
inline bool valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

std::size_t count_characters(std::string_view text);
// The characters from `begin` up to but not including `end`.
std::string_view characters_between(std::string_view text, std::ptrdiff_t begin, std::ptrdiff_t end);

// As Python's str.isspace, which sacreBLEU splits by.
bool is_white_space(char32_t code);
bool is_control(char32_t code);
bool is_small_letter(char32_t code);
bool is_capital_letter(char32_t code);
// A letter, a mark on one, or a digit.
bool is_word_character(char32_t code);
// A character of a script that puts no white space between words: Chinese characters and Japanese syllables.
bool is_ideographic(char32_t code);
// Whether a font needs a glyph for it: not for white space, controls, and what a reader never sees.
bool needs_glyph(char32_t code);
// Every character's lower case, where that is one character; bytes that are no UTF-8 stay.
std::string lowercased(std::string_view text);

// What a reader sees as one character (an extended grapheme cluster, UAX 29): a letter with its marks, a flag, a family
// of joined emoji.
struct Grapheme {
  std::string_view bytes;
  char32_t code = 0;  // of its first character
  bool valid = true;
  int columns = 1;  // of a terminal: 0, 1 or 2
};
std::vector<Grapheme> split_graphemes(std::string_view text);

// A grapheme as a terminal shows it.
struct DisplayCharacter {
  std::string text;
  int width = 1;  // columns: 1 or 2
};

// A text as a terminal shows it. Controls, marks of direction and bytes that are no UTF-8 become U+FFFD, so nothing in
// a text can move the cursor, change colours or turn lines around; what is never seen is left out.
std::vector<DisplayCharacter> display_characters(std::string_view text);
// These as one text again: fit to be written to a terminal.
std::string displayed(std::string_view text);
// The columns that these take.
Index display_width(std::string_view text);

}  // namespace heed
