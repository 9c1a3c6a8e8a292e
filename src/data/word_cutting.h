#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace heed {

// How a text is cut into words.
//   white_space  at white space, and nothing is changed
//   tokens       lower case; runs of letters and digits are words, every other character is one of its own, as is every
//                Chinese or Japanese character; English contractions stand apart ("do n't", "it 's", "they 're"), as
//                the well-known files of word vectors have them; <br>, <p> and their like are white space
//   letters      every character is a word of its own, and so is what separates words, written as kLetterBlank
enum class WordCutting { white_space, tokens, letters };
inline constexpr std::string_view kLetterBlank = "\xe2\x96\x81";  // ▁, as SentencePiece writes it

// The kind that the name of a vocabulary's file tells: "output.tokens.txt", "output.letters.txt", else white_space.
WordCutting cutting_of(std::string_view file_name);

// Calls `use` with each word as it is looked up, and its bytes [begin, end) in the text, none of a blank. The text is
// valid UTF-8.
using UseWord = std::function<void(std::string_view word, std::size_t begin, std::size_t end)>;
void cut_words(WordCutting cutting, std::string_view text, const UseWord& use);

}  // namespace heed
