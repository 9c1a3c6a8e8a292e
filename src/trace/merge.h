#pragma once

#include "heed/trace/trace.h"
#include "heed/trace/word_alignment.h"

// From tokens to words, and without the end of the sentence.

namespace heed {

// The same trace with words for tokens: the sum over the pieces of a word that is looked at, the mean over those of the
// word that looks, the sum of their log-probabilities. Tokens of no word, such as the end, stay. The beam stays as it
// was searched, in tokens.
Trace by_words(const Trace& trace);

// What becomes of rows that have lost a column.
enum class RowSums { as_left, rescaled_to_one };
// Without the ends of both sentences: a token of no word that is the last.
Trace without_end(const Trace& trace, RowSums sums = RowSums::as_left);

// A trace's alignment as text sees it, its tokens as the words (see hard_alignment and soft_alignment). A trace without
// alignment is an Error.
WordAlignment alignment_of(const Trace& trace);

}  // namespace heed
