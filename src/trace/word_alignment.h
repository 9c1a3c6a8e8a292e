#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/vocabulary.h"
#include "heed/tensor/tensor.h"

namespace heed {

// What a model looked at, between words rather than pieces of words.
struct WordAlignment {
  std::vector<std::string> source, target;  // the words
  Tensor weights;                           // [target words, source words]
  // [target words]: what was put on the end of the source, which means no word; empty unless the model has learnt that.
  Tensor ends = {};
};

// Weights [rows, columns] between words from weights [n, m] between their pieces: the sum over a column's pieces and
// the mean over a row's. `row_words` [n] and `column_words` [m] say which word each piece belongs to; pieces of none
// (-1) are left out.
Tensor merge_pieces(const Tensor& weights, std::span<const Index> row_words, Index rows,
                    std::span<const Index> column_words, Index columns);

// From weights [n + 1, m] over pieces, with the end's row and (m being one more than the pieces of the source) the
// end's column, both of which are dropped. Pieces are merged as above. What was put on the end is missing from the row,
// whose sum says how much of it was on words. Of a model that looks there where a word has no counterpart it is kept.
WordAlignment align_words(const Vocabulary& source, std::span<const std::int32_t> source_ids, const Vocabulary& target,
                          std::span<const std::int32_t> target_ids, const Tensor& weights,
                          bool unlinked_at_end = false);

// Pharaoh's form, "source-target ..." counted from 0: for every target word the source word with the largest weight, or
// none where the end has a larger one.
std::string hard_alignment(const WordAlignment& alignment);
// For every target word its weights, "0.9,0.1 0.2,0.8".
std::string soft_alignment(const WordAlignment& alignment);

}  // namespace heed
