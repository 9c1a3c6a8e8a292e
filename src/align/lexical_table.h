#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/align/bitext.h"
#include "heed/align/expected_counts.h"

namespace heed {

// p(f | e), that the given word e is translated by the written word f, of all pairs of words that stand in some pair of
// sentences together, and of the empty word with every written word. Each given word has a row, which is a hash table
// with linear probing that is three quarters full: the cells of a rare word lie side by side.
class LexicalTable {
 public:
  // Columns of a pair's matrix: the empty word, then the given words in their order.
  static constexpr std::uint64_t kNoCell = ~std::uint64_t{0};
  // What a pair of words has that the table lacks, and the least that a pair has.
  static constexpr float kLeast = 1e-9F;
  // A share below it is not counted.
  static constexpr float kNegligible = 1e-6F;

  // Every word is equally probable. Both sides have as many sentences.
  LexicalTable(const NumberedSentences& given, const NumberedSentences& written);

  // Of a pair of sentences the cells and their probabilities, both [written words, 1 + given words].
  void find(NumberedSentences::Sentence given, NumberedSentences::Sentence written, std::span<std::uint64_t> cells,
            std::span<float> probabilities) const;
  // Adds shares in [0, 1] of the cells that find() gave. May be called by many threads at once.
  void count(std::span<const std::uint64_t> cells, std::span<const float> shares);
  // p from the counts, which are then 0:
  //   p(f | e) = c(f, e) / Σ_f' c(f', e),  or with a Dirichlet prior α > 0 by variational Bayes (Johnson 2007)
  //   p(f | e) = exp ψ(c(f, e) + α) / exp ψ(Σ_f' c(f', e) + α n(e)),  n(e) being the cells of the row
  void maximise(double prior);

  // p(f | e); the empty word is the given word -1.
  float probability(std::int32_t given, std::int32_t written) const;
  // What is counted so far, with shares that were negligible left out.
  double counted(std::int32_t given, std::int32_t written) const;
  std::size_t pairs() const { return pairs_; }

 private:
  struct Cell {
    std::int32_t written = -1;  // -1: nothing is here
    float probability = 0;
  };
  // The cells of a given word, or of the empty word.
  struct Row {
    std::uint64_t begin = 0, size = 0;
  };
  Row row(std::int32_t given) const;
  static std::uint64_t slot(std::int32_t written, std::uint64_t size);
  std::uint64_t find(Row row, std::int32_t written, std::uint64_t at) const;
  void fill_row(std::size_t row, std::span<const std::int32_t> written);

  std::vector<std::uint64_t> begins_;  // of the row of the empty word, those of the given words, and the end
  std::vector<Cell> cells_;
  std::vector<ExpectedCount> counts_;  // of each cell
  std::size_t pairs_ = 0;
};

}  // namespace heed
