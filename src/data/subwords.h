#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/training_text.h"
#include "heed/data/vocabulary.h"

namespace heed {

struct SubwordOptions {
  Index size = 8000;             // pieces, with the three symbols
  std::string kind = "unigram";  // or "bpe"
  double coverage = 0.9995;      // the share of the characters that get a piece of their own
  std::uint64_t seed = 1;        // chooses the sample
  Index sample = 1'000'000;      // lines that are looked at, at most
  bool exact = false;            // a corpus too small for `size` pieces is an Error; otherwise there are fewer
};

// Learns subwords with SentencePiece (Kudo, Richardson 2018) from all texts: one language, or both for a
// vocabulary that is shared. The unigram model is Kudo 2018, bpe Sennrich, Haddow, Birch 2016. The same files and
// options give the same pieces.
std::shared_ptr<const Vocabulary> train_subwords(const TrainingText& text, const SubwordOptions& options);

// A model of SentencePiece from the bytes of its file; `name` stands in errors.
std::shared_ptr<const Vocabulary> subwords_from(std::string_view bytes, const std::string& name);

}  // namespace heed
