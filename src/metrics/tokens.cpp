#include "heed/metrics/tokens.h"

#include <clocale>
#include <cwctype>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

unsigned char byte(char c) { return static_cast<unsigned char>(c); }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool continues(char c) { return (byte(c) & 0xC0) == 0x80; }

// How many bytes the character at the front has.
std::size_t character_size(std::string_view text) {
  const unsigned char first = byte(text[0]);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xC2 ? 1
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 1;
  if (size > text.size()) return 1;
  for (std::size_t i = 1; i < size; ++i)
    if (!continues(text[i])) return 1;
  return size;
}

char32_t code_point(std::string_view character) {
  const unsigned char first = byte(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7F >> character.size());
  for (const char c : character.substr(1)) code = (code << 6) | (byte(c) & 0x3F);
  return code;
}

void append_code_point(std::string& text, char32_t code) {
  const auto put = [&text](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6)), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12)), put(0x80 | ((code >> 6) & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18)), put(0x80 | ((code >> 12) & 0x3F)), put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Punctuation that always stands alone: all of ASCII's but ' , - and .
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}
bool stop_or_comma(char c) { return c == '.' || c == ','; }

// Each pair of neighbours (first, second) for which `splits` holds becomes `before` first `between` second `after`; the
// search goes on behind the pair.
template <class Splits>
std::string split_pairs(const std::string& text, const Splits& splits, std::string_view before,
                        std::string_view between, std::string_view after) {
  std::string result;
  result.reserve(text.size() * 3 / 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !splits(text[i], text[i + 1])) {
      result += text[i];
      continue;
    }
    result.append(before) += text[i];
    result.append(between) += text[++i];
    result.append(after);
  }
  return result;
}

// All rules are about ASCII, so bytes can be looked at one by one.
std::string with_spaces_13a(std::string_view sentence) {
  std::string text = replaced(std::string(sentence), "<skipped>", "");
  for (const auto& [entity, character] :
       {std::pair{"&quot;", "\""}, std::pair{"&amp;", "&"}, std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}})
    text = replaced(std::move(text), entity, character);
  std::string spaced = " ";
  for (const char c : text + " ") {
    if (stands_alone(c)) spaced += ' ';
    spaced += c;
    if (stands_alone(c)) spaced += ' ';
  }
  // Stops and commas inside numbers stay; a dash is cut off from the number before it.
  spaced = split_pairs(
      spaced, [](char a, char b) { return !digit(a) && stop_or_comma(b); }, "", " ", " ");
  spaced = split_pairs(
      spaced, [](char a, char b) { return stop_or_comma(a) && !digit(b); }, " ", " ", "");
  return split_pairs(
      spaced, [](char a, char b) { return digit(a) && b == '-'; }, "", " ", " ");
}

}  // namespace

BleuTokens bleu_tokens_named(const std::string& name) {
  for (const BleuTokens tokens : {BleuTokens::v13a, BleuTokens::none, BleuTokens::characters})
    if (bleu_tokens_name(tokens) == name) return tokens;
  const std::vector<std::string> known = {"13a", "none", "char"};
  fail("[bleu] there is no tokeniser {}{}", name, did_you_mean(name, known));
}

std::string bleu_tokens_name(BleuTokens tokens) {
  return tokens == BleuTokens::v13a ? "13a" : tokens == BleuTokens::none ? "none" : "char";
}

std::vector<std::string> tokenized(std::string_view sentence, BleuTokens tokens) {
  std::vector<std::string> result;
  if (tokens == BleuTokens::characters) {
    for (const std::string_view character : split_characters(sentence))
      if (!is_white_space(character)) result.emplace_back(character);
    return result;
  }
  const std::string spaced = tokens == BleuTokens::v13a ? with_spaces_13a(sentence) : std::string(sentence);
  for (const std::string_view word : split_words(spaced)) result.emplace_back(word);
  return result;
}

std::vector<std::string_view> split_characters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size(); at += characters.back().size())
    characters.push_back(text.substr(at, character_size(text.substr(at))));
  return characters;
}

bool is_white_space(std::string_view character) {
  const char32_t c = code_point(character);
  if (character.size() == 1) return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0, at = 0;
  const auto finish = [&] {
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  };
  for (std::size_t size = 0; at < text.size(); at += size) {
    size = character_size(text.substr(at));
    if (!is_white_space(text.substr(at, size))) continue;
    finish();
    begin = at + size;
  }
  finish();
  return words;
}

std::string lowercased(std::string_view text) {
  // The locale of characters only, the same whatever the user's is.
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  require(locale != nullptr, "[lowercase] this system has no locale C.UTF-8");
  std::string result;
  result.reserve(text.size());
  for (const std::string_view character : split_characters(text)) {
    if (character.size() == 1 && byte(character[0]) >= 0x80)
      result += character;
    else
      append_code_point(result, static_cast<char32_t>(towlower_l(static_cast<wint_t>(code_point(character)), locale)));
  }
  return result;
}

}  // namespace heed
