#pragma once

#include <span>
#include <string_view>

#include "heed/trace/trace.h"

namespace heed {

// A sentence from the tokens that a toolkit printed. Where one of them begins with SentencePiece's "▁", words begin
// with it; where one ends with subword-nmt's "@@", a word goes on behind it; otherwise every token is a word. The text
// is the words with a space between them. With `ended`, the end of the sentence is its last token.
TraceText imported_text(std::span<const std::string_view> tokens, bool ended);

}  // namespace heed
