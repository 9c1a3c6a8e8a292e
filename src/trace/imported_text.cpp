#include "heed/trace/imported_text.h"

#include <algorithm>

#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::string_view kWordBegin = "▁", kGoesOn = "@@";

}  // namespace

TraceText imported_text(std::span<const std::string_view> tokens, bool ended) {
  const bool pieces =
      std::any_of(tokens.begin(), tokens.end(), [](std::string_view token) { return token.starts_with(kWordBegin); });
  const bool continued = !pieces && std::any_of(tokens.begin(), tokens.end(),
                                                [](std::string_view token) { return token.ends_with(kGoesOn); });
  TraceText result;
  Index at = 0;
  bool begins = true;  // the next token is the first of a word
  for (const std::string_view token : tokens) {
    std::string_view shown = token;
    if (pieces) {
      begins = token.starts_with(kWordBegin) || result.words.empty();
      if (token.starts_with(kWordBegin)) shown.remove_prefix(kWordBegin.size());
    }
    const bool goes_on = continued && token.ends_with(kGoesOn);
    if (goes_on) shown.remove_suffix(kGoesOn.size());
    if (begins) {
      if (!result.words.empty()) result.text += ' ', ++at;
      result.words.push_back({"", at, at});
    }
    const Index begin = at;
    at += static_cast<Index>(count_characters(shown));
    result.text += shown;
    result.words.back().text += shown, result.words.back().end = at;
    result.tokens.push_back({std::string(token), begin, at, static_cast<Index>(result.words.size()) - 1});
    begins = !goes_on;
  }
  if (ended) result.tokens.push_back({"</s>", at, at, -1});
  return result;
}

}  // namespace heed
