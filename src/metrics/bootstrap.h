#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// What a metric gives for a choice of the test's samples, each as often as it is named.
using ScoreOfSamples = std::function<double(std::span<const std::size_t> samples)>;

// Of a metric that is a function of the sum of its samples' counts.
template <class Counts, class Score>
ScoreOfSamples score_of_sums(std::vector<Counts> counts, Score score) {
  return [counts = std::move(counts), score = std::move(score)](std::span<const std::size_t> samples) -> double {
    Counts sum = {};
    for (const std::size_t sample : samples) sum += counts[sample];
    return score(sum);
  };
}

// Of a metric that is the mean of its samples' scores.
ScoreOfSamples score_of_means(std::vector<double> scores);

// Of all `count` samples, each once.
double score_of_all(const ScoreOfSamples& score, std::size_t count);

// How far a score depends on which samples are in the test: it is computed on random draws of as many of them, with
// replacement (Efron 1979).
struct ScoreInterval {
  double score = 0;          // on the test set itself
  double low = 0, high = 0;  // in the middle 95 % of the draws
};
ScoreInterval bootstrap_interval(const ScoreOfSamples& score, std::size_t count, Index draws = 1000,
                                 std::uint64_t seed = 1);

// Paired bootstrap resampling, Koehn 2004: both systems are scored on the same random draws. What hardly ever turns
// round on other draws is no accident of the test set.
struct PairedBootstrap {
  double difference = 0;     // the second system's score minus the first's, on the test set itself
  double low = 0, high = 0;  // the difference in the middle 95 % of the draws
  double p_value = 1;        // (1 + draws in which the worse system is not worse) / (1 + draws)
};
// Both are of the same `count` samples. The same seed gives the same draws whatever the systems.
PairedBootstrap paired_bootstrap(const ScoreOfSamples& first, const ScoreOfSamples& second, std::size_t count,
                                 Index draws = 1000, std::uint64_t seed = 1);
// "+1.20 BLEU, 95 % within +0.31 .. +2.05, p = 0.0040"
std::string written(const PairedBootstrap& test, const std::string& metric, int digits = 2);

}  // namespace heed
