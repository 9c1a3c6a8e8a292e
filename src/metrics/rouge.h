#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"

// ROUGE, Lin 2004, as Google's rouge-score computes it: how much of a reference is in a summary (recall) and how much
// of the summary is in the reference (precision), counted in n-grams or in the longest common subsequence of words,
// with F = 2PR / (P + R). Words are runs of a-z and 0-9 in lower case: a text in another script has none.

namespace heed {

// rouge1 .. rouge9 count n-grams, rougeL takes the longest common subsequence of the whole texts, rougeLsum joins those
// of a reference's lines with all lines of the summary.
struct RougeKind {
  enum class Unit { ngrams, sequence, lines };
  Unit unit = Unit::ngrams;
  std::size_t order = 1;  // of n-grams

  std::string name() const;   // "rougeL", as rouge-score writes it
  std::string title() const;  // "ROUGE-L"
};
// An Error with the nearest name for one that is not known.
RougeKind rouge_named(const std::string& name);

struct RougeOptions {
  bool stem = false;  // words longer than three letters become their stems (metrics/porter.h)
  // Texts end after so many bytes, line ends not counted, even within a word, as `-b` of ROUGE-1.5.5; 0: they do not.
  std::size_t bytes = 0;
  // Of several references: the one with the best F, or all together, their hits and lengths summed (`-f A` of 1.5.5).
  bool pooled = false;
};

struct RougeScore {
  double precision = 0, recall = 0, f = 0;  // 0..1
};

// Of one summary against its references, at least one.
RougeScore rouge(const RougeKind& kind, std::string_view summary, std::span<const std::string> references,
                 const RougeOptions& options = {});

// The words that are compared.
std::vector<std::string> rouge_words(std::string_view text, bool stem = false);

// "nrefs:1|case:lc|tok:rouge-score|stem:no|refs:best|bytes:all"
std::string rouge_signature(std::size_t references, const RougeOptions& options = {});

}  // namespace heed
