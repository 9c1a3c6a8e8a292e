#include "heed/metrics/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/random.h"
#include "heed/metrics/bleu.h"
#include "support/messages.h"

namespace heed::test {
namespace {

// Sentences of ten words, each right with a chance.
std::vector<BleuCounts> system_of(double right, std::size_t sentences, std::uint64_t seed) {
  RandomSequence random(RandomKey{seed, 0});
  std::vector<BleuCounts> list;
  for (std::size_t i = 0; i < sentences; ++i) {
    BleuCounts& counts = list.emplace_back(BleuCounts{{}, {10, 9, 8, 7}, 10, 10});
    for (Index n = 0; n < 4; ++n)
      for (Index k = 0; k < 10 - n; ++k) counts.matches[static_cast<std::size_t>(n)] += random.uniform() < right;
  }
  return list;
}

PairedBootstrap compared(std::vector<BleuCounts> first, std::vector<BleuCounts> second, Index draws = 1000) {
  const auto score = [](const BleuCounts& sum) { return bleu(sum).score; };
  const std::size_t count = first.size();
  return paired_bootstrap(score_of_sums(std::move(first), score), score_of_sums(std::move(second), score), count,
                          draws);
}

TEST(PairedBootstrap, TellsWhatIsBetterFromWhatIsChance) {
  const std::vector<BleuCounts> weak = system_of(.5, 200, 1), strong = system_of(.6, 200, 2);
  const PairedBootstrap better = compared(weak, strong);
  EXPECT_GT(better.difference, 5);
  EXPECT_LT(better.low, better.difference);
  EXPECT_GT(better.high, better.difference);
  EXPECT_GT(better.low, 0);
  EXPECT_EQ(better.p_value, 1.0 / 1001);
  const PairedBootstrap worse = compared(strong, weak);
  EXPECT_EQ(worse.difference, -better.difference);
  EXPECT_EQ(worse.p_value, better.p_value);

  // Systems of the same quality differ by a significant amount in one of twenty tests.
  int significant = 0;
  for (std::uint64_t seed = 10; seed < 50; ++seed)
    significant += compared(system_of(.5, 200, seed), system_of(.5, 200, seed + 100), 200).p_value < .025;
  // Of 40 tests 2 are expected; more than 8 have a chance below one in a thousand.
  EXPECT_LE(significant, 8);
}

TEST(PairedBootstrap, OfTheSameSystemIsNothing) {
  const std::vector<BleuCounts> one = system_of(.5, 30, 3);
  const PairedBootstrap same = compared(one, one, 100);
  EXPECT_EQ(same.difference, 0);
  EXPECT_EQ(same.low, 0);
  EXPECT_EQ(same.high, 0);
  EXPECT_EQ(same.p_value, 1);
  EXPECT_EQ(message_of([&] { compared({}, {}); }), "[bootstrap] there is no sample to draw from");
  EXPECT_EQ(message_of([&] { compared(one, one, 0); }), "[bootstrap] at least 1 draw is needed, not 0");
}

TEST(PairedBootstrap, IsWrittenWithItsSigns) {
  EXPECT_EQ(written({1.204, -.3, 2.5, .0321}, "BLEU"), "+1.20 BLEU, 95 % within -0.30 .. +2.50, p = 0.0321");
  EXPECT_EQ(written({-1.26, -3, 2.5, 1}, "WER", 1), "-1.3 WER, 95 % within -3.0 .. +2.5, p = 1.0000");
}

TEST(BootstrapInterval, IsThatOfTheBinomialDistribution) {
  // Of 400 samples 100 are right: a standard deviation of sqrt(.25 * .75 / 400) = .0217, 1.96 of them on each side.
  const ScoreOfSamples score = [](std::span<const std::size_t> samples) {
    return static_cast<double>(std::ranges::count_if(samples, [](std::size_t i) { return i % 4 == 0; })) /
           static_cast<double>(samples.size());
  };
  const ScoreInterval found = bootstrap_interval(score, 400, 4000);
  EXPECT_EQ(found.score, .25);
  EXPECT_NEAR(found.low, .25 - 1.96 * .02165, .005);
  EXPECT_NEAR(found.high, .25 + 1.96 * .02165, .005);
  const ScoreInterval again = bootstrap_interval(score, 400, 4000), other = bootstrap_interval(score, 400, 4000, 2);
  EXPECT_EQ(found.low, again.low);
  EXPECT_EQ(found.high, again.high);
  EXPECT_NEAR(found.low, other.low, .005);
}

}  // namespace
}  // namespace heed::test
