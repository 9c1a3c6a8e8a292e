#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed {

// How the blank of a question is written once it was read.
inline constexpr std::string_view kBlank = "XXXXX";

// A question with its blank as a word of its own, kBlank. In files a blank is XXXXX (the Children's Book Test, the
// Chinese sets), @placeholder (CNN, Daily Mail) or a row of underscores (CLOTH). `blanks` counts them.
struct BlankedText {
  std::string text;
  int blanks = 0;
};
BlankedText with_blank(std::string_view text);

// What is wrong with the question: that it has no blank, or several; nothing if it has one.
std::optional<std::string> fault_of_blank(const BlankedText& question);

}  // namespace heed
