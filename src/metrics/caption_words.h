#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// The words of a caption in lower case, without punctuation: tokens of the Penn Treebank in the way of Stanford's
// tokeniser, with which COCO's captions are compared. Clitics are words (man 's, is n't, gon na), amounts are parted
// ($ 5.50, 50 %), abbreviations keep their points (u.s., mr.), and brackets stay as words (-lrb-), as pycocoevalcap
// leaves them. What Stanford's rules know of rarer things, such as smileys and addresses, is not followed.
std::vector<std::string> caption_words(std::string_view text);
// These with spaces between them.
std::string caption_line(std::string_view text);

}  // namespace heed
