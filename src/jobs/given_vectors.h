#pragma once

#include <string>
#include <vector>

#include "heed/jobs/bundle.h"

namespace heed {

// The words of a file of vectors (data/word_vectors.h).
std::vector<std::string> words_with_vectors(const std::string& file);

// Puts the file's vectors into the model's tables of words, and marks them as frozen where the model keeps them. A word
// without a vector takes that of its lower case, or keeps its first value. Gives a line that counts both. A model
// without such tables, or of another width, is an Error.
std::string give_vectors(Bundle& bundle, const std::string& file);

}  // namespace heed
