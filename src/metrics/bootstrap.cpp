#include "heed/metrics/bootstrap.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"

namespace heed {
namespace {

// A score of each draw, sorted.
std::vector<double> scores_of_draws(const ScoreOfSamples& score, std::size_t count, Index draws, std::uint64_t seed) {
  require(count > 0, "[bootstrap] there is no sample to draw from");
  require(draws >= 1, "[bootstrap] at least 1 draw is needed, not {}", draws);
  std::vector<double> scores(static_cast<std::size_t>(draws));
  parallel_for(draws, 64, [&](Index begin, Index end) {
    std::vector<std::size_t> chosen(count);
    for (Index draw = begin; draw < end; ++draw) {
      RandomSequence random(RandomKey{seed, 0}.derive(static_cast<std::uint64_t>(draw)));
      for (std::size_t& sample : chosen) sample = random.below(count);
      scores[static_cast<std::size_t>(draw)] = score(chosen);
    }
  });
  std::ranges::sort(scores);
  return scores;
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + .5)];
}

}  // namespace

ScoreOfSamples score_of_means(std::vector<double> scores) {
  return [scores = std::move(scores)](std::span<const std::size_t> samples) {
    double sum = 0;
    for (const std::size_t sample : samples) sum += scores[sample];
    return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
  };
}

double score_of_all(const ScoreOfSamples& score, std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return score(all);
}

ScoreInterval bootstrap_interval(const ScoreOfSamples& score, std::size_t count, Index draws, std::uint64_t seed) {
  const std::vector<double> scores = scores_of_draws(score, count, draws, seed);
  return {score_of_all(score, count), at_share(scores, .025), at_share(scores, .975)};
}

PairedBootstrap paired_bootstrap(const ScoreOfSamples& first, const ScoreOfSamples& second, std::size_t count,
                                 Index draws, std::uint64_t seed) {
  const ScoreOfSamples difference = [&](std::span<const std::size_t> samples) {
    return second(samples) - first(samples);
  };
  const std::vector<double> differences = scores_of_draws(difference, count, draws, seed);
  PairedBootstrap result{score_of_all(difference, count), at_share(differences, .025), at_share(differences, .975), 1};
  const auto turned =
      std::ranges::count_if(differences, [&](double each) { return result.difference > 0 ? each <= 0 : each >= 0; });
  result.p_value = (1 + static_cast<double>(turned)) / (1 + static_cast<double>(draws));
  return result;
}

std::string written(const PairedBootstrap& test, const std::string& metric, int digits) {
  return fmt::format("{:+.{}f} {}, 95 % within {:+.{}f} .. {:+.{}f}, p = {:.4f}", test.difference, digits, metric,
                     test.low, digits, test.high, digits, test.p_value);
}

}  // namespace heed
