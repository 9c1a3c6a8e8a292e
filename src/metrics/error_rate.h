#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"

// Errors of what was recognised: the fewest words that have to be replaced, put in or left out to turn the reference
// into the hypothesis (Levenshtein 1966), for each word of the reference. WER counts words, CER characters, PER phones,
// which are words here.

namespace heed {

// The counts of a corpus are the sums of its sentences'.
struct ErrorCounts {
  Index hits = 0, substitutions = 0, deletions = 0, insertions = 0;

  ErrorCounts& operator+=(const ErrorCounts& other);
  Index errors() const { return substitutions + deletions + insertions; }
  Index reference() const { return hits + substitutions + deletions; }  // its length
  // For each unit of the reference; the number of errors where it is empty, as jiwer does.
  double rate() const;
};

// One step from the reference to the hypothesis; a side that has nothing there is empty.
struct AlignedPair {
  std::string reference, hypothesis;
};

// What errors are counted in.
enum class ErrorUnit { words, characters };
// Words between white space; or characters, white space at both ends left out, that between words counted.
std::vector<std::string> error_units(std::string_view text, ErrorUnit unit);

// A way with the fewest errors; of several the one that replaces rather than leaves out and puts in.
std::vector<AlignedPair> align_errors(std::span<const std::string> reference, std::span<const std::string> hypothesis);
ErrorCounts error_counts(std::span<const AlignedPair> alignment);
ErrorCounts error_counts(std::string_view reference, std::string_view hypothesis, ErrorUnit unit);

// Both lines, one above the other, with the errors below them, as sclite writes an alignment: what is wrong is in upper
// case, what is missing is stars.
//   Scores: (#C #S #D #I) 4 1 1 0
//   REF:  the CAT sat ON the mat
//   HYP:  the BAT sat ** the mat
//   Eval:     S       D
std::string written_alignment(std::span<const AlignedPair> alignment);

// TIMIT's 61 phones as the 39 that errors are counted in (Lee, Hon 1989); q is left out, others stay.
std::vector<std::string> folded_phones(std::span<const std::string> phones);

}  // namespace heed
