#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "heed/align/expected_counts.h"

// A hidden Markov model of alignments: Vogel, Ney, Tillmann 1996, HMM-based word alignment in statistical translation,
// with the empty words of Och, Ney 2003, A systematic comparison of various statistical alignment models. The state is
// a position q among I given words, 0 before the first, and whether the written word comes from the word there or from
// the empty word, which stays where it is:
//   p(q → i, word)  = (1 - p₀) s(i - q) / Σ_i' s(i' - q),   i = 1 … I
//   p(q → q, empty) = p₀
// s(d) is free for jumps of up to kFarthest words; longer ones have one probability per side, which their lengths
// share. Posteriors are found by the forward and backward sums of Baum 1972, scaled so that those of a position sum
// to 1.

namespace heed {

class JumpModel {
 public:
  static constexpr int kFarthest = 20;
  static constexpr std::size_t kClasses = 2 * kFarthest + 3;  // of jumps: too far back, -20 … 20, too far ahead
  static std::size_t class_of(std::ptrdiff_t jump);

  // `longest` words are the most that a pair of sentences has on the given side.
  JumpModel(double null_probability, std::size_t longest);

  // How often each class of jumps is expected.
  struct Counts {
    std::array<ExpectedCount, kClasses> jumps{};

    void operator+=(const Counts& other) {
      for (std::size_t k = 0; k < kClasses; ++k) jumps[k] += other.jumps[k];
    }
  };
  // Memory for sums over one pair of sentences at a time, up to so many words.
  struct Sums {
    Sums(std::size_t longest_given, std::size_t longest_written);

    std::vector<float> forward, word, reach, backward, product, summed, scale, jumps;
  };

  // p(f | e) of a pair of sentences [written, 1 + given] becomes p(a_j = i | both sentences), 0 being the empty word.
  void posteriors(std::size_t given, std::size_t written, std::span<float> matrix, Sums& sums, Counts& counts) const;
  void maximise(const Counts& counts);

  // s(d)
  float weight(std::ptrdiff_t jump) const { return weights_[static_cast<std::size_t>(jump + origin_)]; }

 private:
  void set_weights(const std::array<double, kClasses>& shares);

  double null_probability_;
  std::ptrdiff_t origin_;
  std::vector<float> weights_, mirrored_;  // s(d) at d + origin_, and s(-d)
  std::vector<double> sums_;               // Σ s(d') over d' < d at d + origin_
};

}  // namespace heed
