#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// How BLEU cuts a sentence into tokens, as sacreBLEU does (Post 2018).
enum class BleuTokens {
  v13a,        // the rules of NIST's mteval-v13a for Western languages
  none,        // at white space only
  characters,  // every character but white space
};

// "13a", "none" or "char"; an Error with the nearest name otherwise.
BleuTokens bleu_tokens_named(const std::string& name);
std::string bleu_tokens_name(BleuTokens tokens);

// The tokens of one sentence in UTF-8. White space is what base/utf8.h calls so.
std::vector<std::string> tokenized(std::string_view sentence, BleuTokens tokens);

// The words between white space.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace heed
