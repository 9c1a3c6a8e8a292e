#include "heed/metrics/bootstrap.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
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

TEST(PairedBootstrap, TellsWhatIsBetterFromWhatIsChance) {
  const std::vector<BleuCounts> weak = system_of(.5, 200, 1), strong = system_of(.6, 200, 2);
  const PairedBootstrap better = paired_bootstrap(weak, strong);
  EXPECT_GT(better.difference, 5);
  EXPECT_LT(better.low, better.difference);
  EXPECT_GT(better.high, better.difference);
  EXPECT_GT(better.low, 0);
  EXPECT_EQ(better.p_value, 1.0 / 1001);
  const PairedBootstrap worse = paired_bootstrap(strong, weak);
  EXPECT_EQ(worse.difference, -better.difference);
  EXPECT_EQ(worse.p_value, better.p_value);

  // Systems of the same quality differ by a significant amount in one of twenty tests.
  int significant = 0;
  for (std::uint64_t seed = 10; seed < 50; ++seed)
    significant += paired_bootstrap(system_of(.5, 200, seed), system_of(.5, 200, seed + 100), 200).p_value < .025;
  // Of 40 tests 2 are expected; more than 8 have a chance below one in a thousand.
  EXPECT_LE(significant, 8);
}

TEST(PairedBootstrap, OfTheSameSystemIsNothing) {
  const std::vector<BleuCounts> one = system_of(.5, 30, 3);
  const PairedBootstrap same = paired_bootstrap(one, one, 100);
  EXPECT_EQ(same.difference, 0);
  EXPECT_EQ(same.low, 0);
  EXPECT_EQ(same.high, 0);
  EXPECT_EQ(same.p_value, 1);
  EXPECT_EQ(message_of([&] { paired_bootstrap(one, {}); }), "[bootstrap] 30 and 0 sentences cannot be paired");
}

}  // namespace
}  // namespace heed::test
