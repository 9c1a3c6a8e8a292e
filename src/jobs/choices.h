#pragma once

#include <string>
#include <vector>

#include "heed/data/sample_batches.h"
#include "heed/data/vocabulary.h"

namespace heed {

// One of the labels or choices that a model chooses from.
struct Choice {
  std::string text;
  Index begin = -1, end = -1;  // of a choice that the first input has: the characters where it stands first
};

// Marks what can be chosen for a sample, in its first input and where its options are encoded; gives it in order. Words
// are the same if their texts are, known to the vocabulary or not. Where options are given these are the choices, and
// an option that occurs is marked wherever it does; else every different word is one, in the order in which they come.
std::vector<Choice> mark_choices(const Vocabulary& vocabulary, const Sample& sample, EncodedSample& encoded);
// Marks the blank of a question.
void mark_blank(const Vocabulary& vocabulary, const std::string& question, EncodedInput& encoded);
// The number of an answer among the choices; an UnreadableInput if it is none of them.
std::int32_t choice_number(const std::vector<Choice>& choices, const Sample& sample);

}  // namespace heed
