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

// The tokens of one sentence in UTF-8. White space is what Unicode calls so.
std::vector<std::string> tokenized(std::string_view sentence, BleuTokens tokens);

// The words between white space.
std::vector<std::string_view> split_words(std::string_view text);
// The characters of UTF-8 text, one view each; a byte that is no UTF-8 stands for itself.
std::vector<std::string_view> split_characters(std::string_view text);
bool is_white_space(std::string_view character);
// Every character's lower case, where it is one character.
std::string lowercased(std::string_view text);

}  // namespace heed
