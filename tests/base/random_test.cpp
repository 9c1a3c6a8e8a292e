#include "heed/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

namespace heed {
namespace {

// Known answers of Philox4x32-10 from the authors' Random123 distribution. Their counter words 0 and 1 are our counter,
// 2 and 3 our stream, the key words our seed; low word first.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(random_block({0, 0}, 0), (RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(random_block({~0ULL, ~0ULL}, ~0ULL), (RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(random_block({0x299f31d0a4093822ULL, 0x0370734413198a2eULL}, 0x85a308d3243f6a88ULL),
            (RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, SequenceReadsTheBlocksInOrder) {
  const RandomKey key{7, 9};
  RandomSequence random(key);
  for (std::uint64_t block = 0; block < 3; ++block)
    for (const std::uint32_t word : random_block(key, block)) EXPECT_EQ(random.bits(), word);
}

TEST(Random, DerivedKeysDiffer) {
  std::set<std::uint64_t> streams;
  const RandomKey root{1, 0};
  for (std::uint64_t part = 0; part < 100; ++part) {
    const RandomKey child = root.derive(part);
    EXPECT_EQ(child.seed, root.seed);
    streams.insert(child.stream);
    for (std::uint64_t inner = 0; inner < 100; ++inner) streams.insert(child.derive(inner).stream);
  }
  EXPECT_EQ(streams.size(), 100u + 100u * 100u);
  EXPECT_EQ(root.derive("encoder.weight").stream, root.derive("encoder.weight").stream);
  EXPECT_NE(root.derive("encoder.weight").stream, root.derive("decoder.weight").stream);
  EXPECT_NE(root.derive(1).derive(2).stream, root.derive(2).derive(1).stream);
}

// Streams of neighbouring parts share no more bits than chance: of 128 · 1000 compared, half agree within 5 standard
// deviations (√(128000/4) = 179).
TEST(Random, NeighbouringStreamsAreIndependent) {
  int equal_bits = 0;
  for (std::uint64_t part = 0; part < 1000; ++part) {
    const RandomBlock a = random_block(RandomKey{3}.derive(part), 0),
                      b = random_block(RandomKey{3}.derive(part + 1), 0);
    for (std::size_t word = 0; word < 4; ++word) equal_bits += std::popcount(~(a[word] ^ b[word]));
  }
  EXPECT_NEAR(equal_bits, 64000, 5 * 179);
}

TEST(Random, GeneratorGoesOnFromWhereItWas) {
  Random random(5);
  random.next();
  Random again(random.key(), random.used());
  const RandomKey a = random.next(), b = again.next();
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_NE(random.next().stream, a.stream);
}

// Mean of n draws within 5 standard errors, and the higher moments likewise: σ² of x², x³ and x⁴ follow from the
// moments of the distribution.
TEST(Random, UniformMoments) {
  constexpr int n = 1 << 18;
  const double error = 5 / std::sqrt(static_cast<double>(n));
  RandomSequence random(RandomKey{11});
  double sum = 0, squares = 0, lowest = 1, highest = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    sum += u, squares += u * u;
    lowest = std::min(lowest, u), highest = std::max(highest, u);
  }
  EXPECT_GE(lowest, 0);
  EXPECT_LT(highest, 1);
  EXPECT_NEAR(sum / n, 1.0 / 2, error * std::sqrt(1.0 / 12));
  EXPECT_NEAR(squares / n, 1.0 / 3, error * std::sqrt(1.0 / 5 - 1.0 / 9));
}

TEST(Random, NormalMoments) {
  constexpr int n = 1 << 18;
  const double error = 5 / std::sqrt(static_cast<double>(n));
  RandomSequence random(RandomKey{12});
  double moments[4] = {};
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    moments[0] += x / n, moments[1] += x * x / n, moments[2] += x * x * x / n, moments[3] += x * x * x * x / n;
  }
  EXPECT_NEAR(moments[0], 0, error);
  EXPECT_NEAR(moments[1], 1, error * std::sqrt(2.0));
  EXPECT_NEAR(moments[2], 0, error * std::sqrt(15.0));
  EXPECT_NEAR(moments[3], 3, error * std::sqrt(96.0));
}

TEST(Random, BelowCoversItsRangeEvenly) {
  RandomSequence random(RandomKey{13});
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) {
    const std::uint64_t v = random.below(7);
    ASSERT_LT(v, 7u);
    ++counts[v];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10000, 5 * std::sqrt(70000.0 * 1 / 7 * 6 / 7));
}

}  // namespace
}  // namespace heed
