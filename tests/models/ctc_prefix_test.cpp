#include "heed/models/ctc_prefix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "heed/base/random.h"
#include "heed/data/symbols.h"

namespace heed::test {
namespace {

constexpr Index kFrames = 4, kVocabulary = 5;
using Words = std::vector<std::int32_t>;

// Probabilities of each frame; the end and what is unknown never are.
Tensor log_frames(Index rows, std::uint64_t seed) {
  Tensor p(Shape{rows, kFrames, kVocabulary}, Real{0});
  RandomSequence random(RandomKey{seed, 1});
  for (Index row = 0; row < rows * kFrames; ++row) {
    double sum = 0;
    for (const std::int32_t c : {kBegin, 3, 4}) {
      p.data()[row * kVocabulary + c] = static_cast<Real>(random.uniform() + 0.05);
      sum += static_cast<double>(p.data()[row * kVocabulary + c]);
    }
    for (Index c = 0; c < kVocabulary; ++c)
      p.data()[row * kVocabulary + c] = static_cast<Real>(static_cast<double>(p.data()[row * kVocabulary + c]) / sum);
  }
  return p;
}

// The probability of every sequence of words: all paths through the frames, summed by what they spell.
std::map<Words, double> all_sequences(const Tensor& p, Index row, Index length) {
  std::map<Words, double> found;
  const auto paths = static_cast<Index>(std::pow(3, length));
  const std::int32_t choices[] = {kBegin, 3, 4};
  for (Index path = 0; path < paths; ++path) {
    Words words;
    double probability = 1;
    std::int32_t last = kBegin;
    for (Index t = 0, rest = path; t < length; ++t, rest /= 3) {
      const std::int32_t c = choices[rest % 3];
      probability *= static_cast<double>(p.at({row, t, c}));
      if (c != kBegin && c != last) words.push_back(c);
      last = c;
    }
    found[words] += probability;
  }
  return found;
}

double of_prefix(const std::map<Words, double>& all, const Words& prefix) {
  double sum = 0;
  for (const auto& [words, probability] : all)
    if (words.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), words.begin())) sum += probability;
  return sum;
}

// Trying out every path gives the same, word for word, repeated ones among them.
TEST(CtcPrefix, IsTheSumOfAllPaths) {
  const Tensor p = log_frames(2, 3);
  Ids lengths(Shape{2}, 4);
  lengths.data()[1] = 3;
  for (const Words& written : {Words{3, 4}, Words{3, 3}, Words{4, 4}, Words{4, 3, 4}}) {
    CtcPrefix::State state = CtcPrefix::begin(p, lengths);
    Words prefix;
    for (std::size_t step = 0; step <= written.size(); ++step) {
      const std::int32_t previous = step == 0 ? kBegin : written[step - 1];
      if (step > 0) prefix.push_back(previous);
      const Tensor next = CtcPrefix::step(p, lengths, state, Ids(Shape{2}, previous));
      for (Index row = 0; row < 2; ++row) {
        const auto all = all_sequences(p, row, lengths.data()[row]);
        const double before = of_prefix(all, prefix);
        if (before == 0) continue;  // ruled out: what follows means nothing
        for (const std::int32_t c : {3, 4}) {
          Words longer = prefix;
          longer.push_back(c);
          const double expected = of_prefix(all, longer);
          if (expected == 0) {
            EXPECT_LT(next.at({row, c}), -1000);
          } else {
            EXPECT_NEAR(next.at({row, c}), std::log(expected / before), 1e-4) << row << " " << step << " " << c;
          }
        }
        const auto whole = all.find(prefix);
        ASSERT_NE(whole, all.end());
        EXPECT_NEAR(next.at({row, kEnd}), std::log(whole->second / before), 1e-4);
        EXPECT_LT(next.at({row, kBegin}), -1000);
      }
    }
  }
}

}  // namespace
}  // namespace heed::test
