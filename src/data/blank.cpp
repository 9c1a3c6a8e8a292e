#include "heed/data/blank.h"

#include <fmt/format.h>

#include <array>

namespace heed {
namespace {

// Of those that a longer word like XXXXXL has; Chinese marks and characters may stand beside a blank.
bool is_letter(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The bytes of the blank at `place`; 0 if there is none.
std::size_t blank_at(std::string_view text, std::size_t place) {
  constexpr std::array<std::string_view, 2> kWords{kBlank, "@placeholder"};
  if (text[place] == '_') return std::min(text.find_first_not_of('_', place), text.size()) - place;
  if (place > 0 && is_letter(text[place - 1])) return 0;
  for (const std::string_view word : kWords)
    if (text.substr(place).starts_with(word) &&
        (place + word.size() == text.size() || !is_letter(text[place + word.size()])))
      return word.size();
  return 0;
}

}  // namespace

BlankedText with_blank(std::string_view text) {
  BlankedText result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = blank_at(text, at);
    if (bytes == 0) {
      result.text += text[at++];
      continue;
    }
    ++result.blanks;
    if (!result.text.empty() && result.text.back() != ' ') result.text += ' ';
    result.text += kBlank;
    at += bytes;
    if (at < text.size() && text[at] != ' ') result.text += ' ';
  }
  return result;
}

std::optional<std::string> fault_of_blank(const BlankedText& question) {
  if (question.blanks == 1) return std::nullopt;
  if (question.blanks == 0) return fmt::format("the question has no blank, such as {}", kBlank);
  return "the question has several blanks";
}

}  // namespace heed
