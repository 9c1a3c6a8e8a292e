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
enum class WordCutting { white_space, tokens };

// Calls `use` with each word as it is looked up, and its bytes [begin, end) in the text. The text is valid UTF-8.
using UseWord = std::function<void(std::string_view word, std::size_t begin, std::size_t end)>;
void cut_words(WordCutting cutting, std::string_view text, const UseWord& use);

}  // namespace heed
