#pragma once

#include <string>

namespace heed {

// The stem of an English word in lower-case ASCII: Porter 1980, An algorithm for suffix stripping, with the extensions
// of NLTK, as ROUGE takes it.
std::string porter_stem(std::string word);

}  // namespace heed
