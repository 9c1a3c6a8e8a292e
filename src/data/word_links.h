#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Words of an input and of an output that belong together, each counted from 0.
using WordLinks = std::vector<std::pair<std::int32_t, std::int32_t>>;

// Pharaoh's format, "0-0 1-2 2-1"; nothing if it is not that.
std::optional<WordLinks> read_word_links(std::string_view line);
std::string word_links_text(const WordLinks& links);

// Links of words as links of pieces: every piece of a word is linked to every piece of the words linked with it. Which
// word each piece belongs to rises. A word without pieces has no links.
WordLinks links_of_pieces(const WordLinks& links, const std::vector<Index>& input_word_of,
                          const std::vector<Index>& output_word_of);

// Word links as guided alignment of pieces: `rows` [pieces of the output, width] is zero and becomes rows that sum to 1
// where there is a link. Rows of words without one are of the place `unlinked`, or stay zero.
void spread_links(const WordLinks& links, const std::vector<Index>& input_word_of,
                  const std::vector<Index>& output_word_of, std::size_t width, Real* rows,
                  std::optional<std::size_t> unlinked = {});

}  // namespace heed
