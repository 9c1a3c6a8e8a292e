#pragma once

#include <span>
#include <string>

namespace heed {

// Insertions, deletions and replacements that turn one word into the other (Levenshtein 1966).
int edit_distance(const std::string& a, const std::string& b);

// "; did you mean X?" for the nearest known word if it is near, else the list of all, of the nearest if they are many,
// or that there are none: the end of an error message about an unknown name.
std::string did_you_mean(const std::string& word, std::span<const std::string> known);

}  // namespace heed
