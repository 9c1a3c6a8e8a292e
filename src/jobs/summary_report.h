#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/sample.h"

namespace heed {

// Summaries that need no model, of a text's own words.
std::string first_words(std::string_view text, Index count);
std::string first_sentence(std::string_view text);
// The oracle: of all sentences the one whose ROUGE-1 and ROUGE-L F against the references add up to the most; of equals
// the first.
std::string best_sentence(std::string_view text, std::span<const std::string> references);

// The `report` of a job that shortens texts: summaries beside the first words of each text, as many as references have
// on average, its first sentence and its best one. Precision, recall and F of ROUGE-1, 2 and L; recall within 75 bytes,
// stemmed (DUC 2004); which share of the n-grams is new, and which of the words is copied (metrics/copying.h).
std::string summary_report(std::span<const std::string> outputs, std::span<const Sample> samples);

}  // namespace heed
