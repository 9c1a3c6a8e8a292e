#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "heed/align/expected_counts.h"

// IBM model 2 with a prior that favours the diagonal: Dyer, Chahuneau, Smith 2013, A simple, fast, and effective
// reparameterization of IBM model 2. The j-th of J written words comes from the i-th of I given words, or from the
// empty word 0, with
//   p(a_j = 0) = p₀,   p(a_j = i) = (1 - p₀) e^{λ h(i, j)} / Σ_i' e^{λ h(i', j)},   h(i, j) = -|i/I - j/J|
// and is f_j with p(f_j | e_{a_j}). λ, the tension, is fitted: EM's expectation of h is the prior's.

namespace heed {

class DiagonalModel {
 public:
  explicit DiagonalModel(double null_probability, double tension = 4)
      : null_probability_(null_probability), tension_(tension) {}

  // What is expected of alignments.
  struct Counts {
    ExpectedCount distance = 0, linked = 0;  // Σ -h, and how many words do not come from the empty word

    void operator+=(const Counts& other) { distance += other.distance, linked += other.linked; }
  };
  // p(f | e) of a pair of sentences [written, 1 + given] becomes p(a_j = i | both sentences).
  void posteriors(std::size_t given, std::size_t written, std::span<float> matrix, Counts& counts) const;

  // How many pairs of sentences have so many given and written words.
  using Sizes = std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>;
  void maximise(const Counts& counts, const Sizes& sizes);

  double tension() const { return tension_; }
  // p(a_j = i | a_j ≠ 0), and the mean of h over it; words are counted from 1.
  double probability(std::size_t i, std::size_t j, std::size_t given, std::size_t written) const;
  double expected_h(std::size_t j, std::size_t given, std::size_t written) const;

 private:
  double null_probability_, tension_;
};

}  // namespace heed
