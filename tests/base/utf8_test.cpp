#include "heed/base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace heed {
namespace {

TEST(Utf8, TheTableOfValidAndInvalidSequences) {
  using namespace std::string_view_literals;
  for (const std::string_view valid :
       {""sv, "abc"sv, "\0"sv, "\x7f"sv, "\xc2\x80"sv, "\xdf\xbf"sv, "\xe0\xa0\x80"sv, "\xec\xbf\xbf"sv,
        "\xed\x80\x80"sv, "\xed\x9f\xbf"sv, "\xee\x80\x80"sv, "\xef\xbf\xbf"sv, "\xf0\x90\x80\x80"sv,
        "\xf3\xbf\xbf\xbf"sv, "\xf4\x8f\xbf\xbf"sv, "straße 日本語 🙂"sv})
    EXPECT_TRUE(valid_utf8(valid)) << testing::PrintToString(valid);
  for (const std::string_view invalid : {"\x80"sv,  // a continuation alone
                                         "\xbf"sv,
                                         "\xc0\x80"sv,  // overlong
                                         "\xc1\xbf"sv,
                                         "\xe0\x80\x80"sv,
                                         "\xe0\x9f\xbf"sv,
                                         "\xf0\x80\x80\x80"sv,
                                         "\xf0\x8f\xbf\xbf"sv,
                                         "\xed\xa0\x80"sv,
                                         "\xed\xbf\xbf"sv,  // surrogates
                                         "\xf4\x90\x80\x80"sv,
                                         "\xf5\x80\x80\x80"sv,
                                         "\xf8\x88\x80\x80\x80"sv,
                                         "\xff"sv,
                                         "\xfe"sv,  // too large
                                         "\xc2"sv,
                                         "\xe1\x80"sv,
                                         "\xf1\x80\x80"sv,  // cut off
                                         "\xc2\x41"sv,
                                         "\xe1\x80\x41"sv,
                                         "\xf1\x80\x80\x41"sv,
                                         "\xe1\x41\x80"sv,
                                         "\xc2\xc2\x80"sv}) {
    EXPECT_FALSE(valid_utf8(invalid)) << testing::PrintToString(invalid);
    EXPECT_EQ(valid_utf8_prefix("é" + std::string(invalid)), 2U) << testing::PrintToString(invalid);
  }
}

// All code points, by a second encoder; and their surrogate gap.
TEST(Utf8, EveryCodePoint) {
  for (std::uint32_t point = 0; point < 0x120000; ++point) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
    std::string text;
    if (point < 0x80) {
      text = {static_cast<char>(point)};
    } else if (point < 0x800) {
      text = {static_cast<char>(0xc0 | (point >> 6)), tail(0)};
    } else if (point < 0x10000) {
      text = {static_cast<char>(0xe0 | (point >> 12)), tail(6), tail(0)};
    } else {
      text = {static_cast<char>(0xf0 | (point >> 18)), tail(12), tail(6), tail(0)};
    }
    const bool valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    ASSERT_EQ(valid_utf8(text), valid) << point;
    if (valid) {
      ASSERT_EQ(Characters(text).begin()->code, point);
    }
  }
}

TEST(Utf8, BytesThatAreNoneStandAlone) {
  std::vector<std::string_view> bytes;
  std::vector<char32_t> codes;
  std::vector<bool> valid;
  for (const Character& character : Characters("\xff\xc3é\ufffd")) {
    bytes.push_back(character.bytes);
    codes.push_back(character.code);
    valid.push_back(character.valid);
  }
  EXPECT_EQ(bytes, (std::vector<std::string_view>{"\xff", "\xc3", "é", "\ufffd"}));
  EXPECT_EQ(codes, (std::vector<char32_t>{0xfffd, 0xfffd, 0xe9, 0xfffd}));
  EXPECT_EQ(valid, (std::vector<bool>{false, false, true, true}));
  for ([[maybe_unused]] const Character& character : Characters("")) FAIL();
}

TEST(Utf8, CharactersAreCountedAndCutOut) {
  EXPECT_EQ(count_characters(""), 0U);
  EXPECT_EQ(count_characters("straße 日本 🙂"), 11U);
  EXPECT_EQ(characters_between("straße 日本", 4, 8), "ße 日");
  EXPECT_EQ(characters_between("straße", 0, 6), "straße");
  EXPECT_EQ(characters_between("straße", 5, 9), "e");
  EXPECT_EQ(characters_between("straße", 9, 12), "");
}

TEST(Utf8, WhiteSpaceIsPythons) {
  std::vector<char32_t> spaces;
  for (char32_t code = 0; code <= 0x10ffff; ++code)
    if (is_white_space(code)) spaces.push_back(code);
  EXPECT_EQ(spaces,
            (std::vector<char32_t>{0x9,    0xa,    0xb,    0xc,    0xd,    0x1c,   0x1d,   0x1e,   0x1f,   0x20,
                                   0x85,   0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
                                   0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000}));
}

TEST(Utf8, LettersOfEveryScriptHaveTheirCase) {
  for (const char32_t small : {U'a', U'ß', U'ş', U'ω', U'д', U'ї'}) EXPECT_TRUE(is_small_letter(small));
  for (const char32_t capital : {U'A', U'Ä', U'Ş', U'Ω', U'Д'}) {
    EXPECT_FALSE(is_small_letter(capital));
    EXPECT_TRUE(is_capital_letter(capital));
  }
  for (const char32_t other : {U'猫', U'1', U'.', U'×', U'a'}) EXPECT_FALSE(is_capital_letter(other));
}

TEST(Utf8, LowerCaseOfEveryScript) {
  EXPECT_EQ(lowercased("ÄÖ Straße ДОМ ΩΜ X"), "äö straße дом ωμ x");
  EXPECT_EQ(lowercased("A\xFF\xC3"), "a\xFF\xC3");
}

TEST(Utf8, WhatIsSeenNeedsAGlyph) {
  for (const char32_t seen : {U'a', U'é', U'猫', U'\u0301', U'·'})
    EXPECT_TRUE(needs_glyph(seen)) << std::uint32_t{seen};
  for (const char32_t unseen : {U' ', U'\n', U'\u0085', U'\u200b', U'\u200d', U'\u202e', U'\ufe0f', U'\ufeff'})
    EXPECT_FALSE(needs_glyph(unseen)) << std::uint32_t{unseen};
}

TEST(DisplayWidth, IsThatOfATerminal) {
  EXPECT_EQ(display_width("cats"), 4);
  EXPECT_EQ(display_width("größe"), 5);
  EXPECT_EQ(display_width("猫が眠る"), 8);
  EXPECT_EQ(display_width("고양이"), 6);
  EXPECT_EQ(display_width("ｃａｔ"), 6);           // full width letters
  EXPECT_EQ(display_width("e\u0301te\u0301"), 3);  // marks over letters
  EXPECT_EQ(display_width("ก็"), 1);
  EXPECT_EQ(display_width("שָׁלוֹם"), 4);
  EXPECT_EQ(display_width("😀"), 2);
  EXPECT_EQ(display_width("👩‍👩‍👧"), 2);  // joined
  EXPECT_EQ(display_width("👍🏽"), 2);            // with a skin
  EXPECT_EQ(display_width("🇫🇷🇩🇪"), 4);                // two flags
  EXPECT_EQ(display_width("❤"), 1);
  EXPECT_EQ(display_width("❤\ufe0f"), 2);  // as an emoji
  EXPECT_EQ(display_width("한"), 2);       // of three jamo
  EXPECT_EQ(display_width("नमस्ते"), 4);
  EXPECT_EQ(display_width("a\u200bb\ufeff"), 2);  // what is never seen
  EXPECT_EQ(display_width(""), 0);
}

TEST(DisplayWidth, NothingInATextSteersTheTerminal) {
  EXPECT_EQ(displayed("a\x1b[31mb\x07\x7f"), "a\ufffd[31mb\ufffd\ufffd");
  EXPECT_EQ(displayed("a\u202eb\u2066c\u0085"), "a\ufffdb\ufffdc\ufffd");
  EXPECT_EQ(displayed("\xff\xc3"), "\ufffd\ufffd");
  EXPECT_EQ(displayed("\u0301a"), "\u25cc\u0301a");  // a mark alone stands on a circle
  EXPECT_EQ(displayed("\x01\u0301"), "\ufffd\u25cc\u0301");
  EXPECT_EQ(displayed("שלום ❤\ufe0f 👩‍👧"), "שלום ❤\ufe0f 👩‍👧");
}

}  // namespace
}  // namespace heed
