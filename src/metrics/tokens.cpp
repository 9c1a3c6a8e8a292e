#include "heed/metrics/tokens.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

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
    for (const Character& character : Characters(sentence))
      if (!is_white_space(character.code)) result.emplace_back(character.bytes);
    return result;
  }
  const std::string spaced = tokens == BleuTokens::v13a ? with_spaces_13a(sentence) : std::string(sentence);
  for (const std::string_view word : split_words(spaced)) result.emplace_back(word);
  return result;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0, at = 0;
  const auto finish = [&] {
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  };
  for (const Character& character : Characters(text)) {
    if (is_white_space(character.code)) {
      finish();
      begin = at + character.bytes.size();
    }
    at += character.bytes.size();
  }
  finish();
  return words;
}

}  // namespace heed
