#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "heed/autograd/ops/matrix.h"

namespace heed {

// Which words may be the likeliest, told by a product in eight bits that rules the others out. Word j has the score
// x · w_j + b_j, and with what is rounded away
//   w_j = s_j q_j + e_j,  x = t p + f
//   |x · w_j - t s_j p · q_j| <= ‖x‖ ‖e_j‖ + ‖f‖ ‖s_j q_j‖
// so that a word whose score is at most less than another's at least is not the likeliest. Few are left, and of these
// alone the output's weights are read. The bounds hold for scores as they are computed, rounded sums included: who
// picks the likeliest among these words finds the same as among all.
//
// One is kept for each model that is run and not trained, for all its decodings and their threads.
class WordScreen {
 public:
  // When a look at all words is the better way.
  struct Limits {
    Index rows_before = 16;                // rows so far: to round the weights takes as long as some of them
    Index least_weights = Index{1} << 16;  // fewer numbers are multiplied as fast as they are
    Index share = 8;                       // of the words more than one in so many is left
    Index failures = 32;                   // more often than not it was that many times
  };
  WordScreen() : WordScreen(Limits{}) {}
  explicit WordScreen(const Limits& limits);
  ~WordScreen();

  // The words that may have the largest score in any row of x [..., in], rising; the output's weights are [in, words]
  // or, with flip.b, [words, in]. Empty where a look at all of them is the better way (Limits), where the weights are
  // in eight bits or not those of the first call, and where a number is not finite.
  Ids possible(const Tensor& x, const Var& weight, const Var& bias, Transposed flip);

 private:
  struct Rounded;

  Limits limits_;
  std::atomic<Index> rows_{0};      // asked for so far
  std::atomic<Index> failures_{0};  // less those that were of use
  std::once_flag making_;
  std::unique_ptr<const Rounded> rounded_;
};

}  // namespace heed
