#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/word_links.h"

// How the alignments of two directions become one: Och, Ney 2003, section 5.1; the growing ones as Koehn, Och, Marcu
// 2003, Statistical phrase-based translation, section 4.5, and Moses define them.
//   intersection          links of both
//   union                 links of either
//   grow-diag             the intersection; then, as long as one is found, links of the union that are next to a link,
//   one
//                         of the eight fields around it, and of which the source word or the target word has no link
//                         yet
//   grow-diag-final-and   grow-diag; then links of the forward direction, then of the backward one, of which neither
//                         word has a link yet
//   forward               each target word with the source word that it comes from
//   backward              each source word with the target word that it comes from

namespace heed {

enum class Join { intersection, union_of_both, grow_diag, grow_diag_final_and, forward, backward };
// The names above. An unknown one is an Error with the nearest.
Join join_named(std::string_view name);
const std::vector<std::string>& join_names();

// For each word the word of the other side from which it comes, or less than 0: `forward` of the target's words,
// `backward` of the source's. The links are sorted, each once.
WordLinks joined(std::span<const std::int32_t> forward, std::span<const std::int32_t> backward, Join join);

}  // namespace heed
