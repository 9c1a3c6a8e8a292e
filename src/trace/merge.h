#pragma once

#include "heed/trace/trace.h"
#include "heed/trace/word_alignment.h"

// From tokens to words, without the end of the sentence, and from frames to longer ones.

namespace heed {

// The same trace with words for the tokens of every text: the sum over the pieces of a word that is looked at, the mean
// over those of the word that looks, the sum of their log-probabilities. Tokens of no word, such as the end, stay, and
// so do labels, images and sounds. The beam stays as it was searched, in tokens.
Trace by_words(const Trace& trace);

// What becomes of rows that have lost a column.
enum class RowSums { as_left, rescaled_to_one };
// Without the ends of all texts: a token of no word that is the last.
Trace without_end(const Trace& trace, RowSums sums = RowSums::as_left);

// With at most `most` frames on the axis of every sound: neighbours are joined, to the sum where they are looked at and
// to the mean where they look.
Trace with_joined_frames(const Trace& trace, Index most);

// A trace's alignment as text sees it, the places of its axes as the words (see hard_alignment and soft_alignment). A
// trace without alignment is an Error.
WordAlignment alignment_of(const Trace& trace);
// The same without the ends of the texts. Of a model that looks at the end where a word has no counterpart, what was
// put there stands beside it.
WordAlignment alignment_without_end(const Trace& trace);

}  // namespace heed
