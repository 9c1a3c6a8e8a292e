#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

struct WordVectors {
  std::vector<std::string> words;
  Tensor vectors;  // [words, width]
  Index read = 0;  // entries in the file
};

// The vectors of the words that are wanted, from GloVe's text, word2vec's text (with its header) or word2vec's binary
// form, plain or packed; "-" is the standard input. Which it is is seen from the bytes. Of a line of text the last
// fields are the numbers, so a word may have blanks in it. Of a word that comes twice the first vector counts. Numbers
// of words that nobody wants are counted, not read.
//
// An Error with the file and the line (of the binary form: the entry, from 1): a line with fewer or more numbers than
// the first or the header says, what is no finite number, fewer or more entries than the header says, a file cut off or
// without any vector.
WordVectors read_word_vectors(const std::string& file, const std::function<bool(std::string_view)>& wanted);

}  // namespace heed
