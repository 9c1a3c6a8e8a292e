#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heed/align/bitext.h"
#include "heed/align/diagonal_model.h"
#include "heed/align/join.h"
#include "heed/align/jump_model.h"
#include "heed/align/lexical_table.h"

// Which words of sentences and their translations belong together. Two directions are learnt by EM, first with the
// diagonal model, then with the jump model: target words come from source words, and source words from target words.
// They are learnt to agree: Liang, Taskar, Klein 2006, Alignment by agreement. What either counts of a link is
//   q(i, j) = p(a_j = i | both sentences) · p(b_i = j | both sentences)
// the product of both posteriors, so that a link that only one direction believes in is not learnt by any.

namespace heed {

struct AlignerOptions {
  Index diagonal_rounds = 5;      // of EM with the diagonal model
  Index jump_rounds = 5;          // then with the jump model
  double null_probability = 0.2;  // p₀ of both
  double prior = 0.01;            // Dirichlet prior of p(f | e); 0: none
  bool agree = true;              // false: each direction by itself
};

// Called with the number of pairs of sentences that were gone through since it was called last, by any thread.
using AlignerProgress = std::function<void(Index pairs)>;

// The alignments of a text in both directions.
struct BothAlignments {
  std::vector<std::int32_t> forward;   // of every target word the source word from which it comes, from 0, or -1
  std::vector<std::int32_t> backward;  // of every source word the target word

  // The links of one pair of the text that was aligned.
  WordLinks links(const Bitext& text, std::size_t pair, Join join) const;
};

// The result does not depend on the number of threads.
class Aligner {
 public:
  // Learns from pairs of sentences; those with an empty side are passed over. `longest` are the words of the longest
  // sentence that will be aligned, if it is not one of these.
  Aligner(const Bitext& text, const AlignerOptions& options, std::size_t longest = 0,
          const AlignerProgress& progress = {});

  // Each word with the one from which it most probably comes, by its posterior.
  BothAlignments align(const Bitext& text, const AlignerProgress& progress = {}) const;

  // One of the two: the written words come from the given ones.
  struct Direction {
    Direction(const NumberedSentences& given, const NumberedSentences& written, const AlignerOptions& options,
              std::size_t longest);

    LexicalTable table;
    DiagonalModel diagonal;
    JumpModel jumps;
  };
  const Direction& forward() const { return forward_; }
  const Direction& backward() const { return backward_; }

 private:
  enum class Stage { diagonal, jumps };
  struct Work;
  struct PairWork;
  static void find_posteriors(const Direction& direction, Stage stage, NumberedSentences::Sentence given,
                              NumberedSentences::Sentence written, Work& work);
  static std::vector<PairWork> workers_for(const Bitext& text);
  template <class Use>
  void each_pair(const Bitext& text, Stage stage, std::vector<PairWork>& workers, const AlignerProgress& progress,
                 const Use& use) const;
  void learn(const Bitext& text, Stage stage, std::vector<PairWork>& workers, const AlignerProgress& progress);

  AlignerOptions options_;
  Direction forward_, backward_;
};

}  // namespace heed
