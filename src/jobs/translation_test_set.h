#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/metrics/aer.h"
#include "heed/jobs/translator.h"

namespace heed {

// Source with the right translations, and the right word alignments if they are known.
struct TranslationTestSet {
  std::vector<std::string> sources, references;
  std::vector<AlignmentLinks> gold;  // empty: not known
};

// From files of lines; `gold` (Pharaoh's form, counted from 0) may be empty. Files of unequal length, or empty ones,
// are an Error.
TranslationTestSet read_test_set(const std::string& source, const std::string& target, const std::string& gold);

struct TranslationQuality {
  std::vector<Translation> translations;  // the best of each source
  double bleu = 0, chrf = 0;
  double cross_entropy = 0;                  // nats a piece of the references
  std::optional<AlignmentCounts> alignment;  // with gold alignments, of a model with attention
  std::optional<double> entropy;             // of a model with attention: mean over the references' words, in nats
  double sentences_per_second = 0;           // of translating
};

// Alignments are measured where the model reads the references, since gold alignments are about these.
TranslationQuality measure_translation(Translator& translator, const TranslationTestSet& test);

// The mean over target words of the entropy, in nats, of where the model looked: the source words, and the end, which
// has what is missing from a row.
double alignment_entropy(const WordAlignment& alignment);

}  // namespace heed
