#include "heed/data/word_classes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "heed/data/symbols.h"

namespace heed::test {
namespace {

using Words = std::vector<std::int32_t>;

// The part of the logarithm that depends on the classes, Σ N(v, c) log N(v, c) - Σ N(c) log N(c), from scratch.
double likelihood(const std::vector<Words>& sentences, const Words& classes) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> behind;
  std::map<std::int32_t, double> sizes;
  for (const Words& sentence : sentences) {
    std::int32_t before = kBegin;
    for (const std::int32_t word : sentence) {
      const std::int32_t own = classes[static_cast<std::size_t>(word)];
      ++behind[{before, own}], ++sizes[own];
      before = word;
    }
  }
  double sum = 0;
  for (const auto& [pair, count] : behind) sum += count * std::log(count);
  for (const auto& [number, count] : sizes) sum -= count * std::log(count);
  return sum;
}

// Ten animals that begin a sentence and ten verbs behind them, as ids 10 to 19 and 20 to 29.
std::vector<Words> small_language() {
  std::vector<Words> sentences;
  for (std::int32_t animal = 10; animal < 20; ++animal)
    for (std::int32_t verb = 20; verb < 30; ++verb)
      if ((animal + verb) % 3 > 0) sentences.push_back({animal, verb});
  return sentences;
}

TEST(WordClasses, AreWordsThatFollowTheSameWords) {
  const std::vector<Words> sentences = small_language();
  const Words classes = word_classes(sentences, {.vocabulary = 32, .classes = 2});
  const std::set<std::int32_t> animals(classes.begin() + 10, classes.begin() + 20),
      verbs(classes.begin() + 20, classes.begin() + 30);
  EXPECT_EQ(animals.size(), 1U);
  EXPECT_EQ(verbs.size(), 1U);
  EXPECT_NE(animals, verbs);
  EXPECT_EQ(classes[kUnknown], kUnknown);
  EXPECT_EQ(classes[kBegin], kBegin);
  EXPECT_EQ(classes[kEnd], kEnd);
  EXPECT_EQ(classes[31], kUnknown);  // never seen
}

TEST(WordClasses, NoSingleWordCouldMoveForTheBetter) {
  std::vector<Words> sentences = small_language();
  for (std::int32_t i = 0; i < 40; ++i) sentences.push_back({4 + i % 3, 10 + (i * 7) % 20, 3, 10 + (i * 3) % 20});
  const Words classes = word_classes(sentences, {.vocabulary = 30, .classes = 2, .rounds = 50});
  const double best = likelihood(sentences, classes);
  for (std::size_t word = 3; word < 30; ++word)
    for (const std::int32_t other : {3, 4}) {
      Words moved = classes;
      if (moved[word] == kUnknown) continue;
      moved[word] = other;
      EXPECT_LE(likelihood(sentences, moved), best + 1e-6) << word;
    }
}

TEST(WordClasses, FewWordsMakeFewClasses) {
  const Words classes = word_classes(small_language(), {.vocabulary = 30, .classes = 1000});
  EXPECT_EQ(std::set<std::int32_t>(classes.begin() + 10, classes.end()).size(), 2U);
}

}  // namespace
}  // namespace heed::test
