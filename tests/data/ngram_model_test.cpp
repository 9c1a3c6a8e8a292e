// n-gram models beside probabilities that were computed by hand.

#include "heed/data/ngram_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/random.h"
#include "heed/data/symbols.h"
#include "support/messages.h"

namespace heed::test {
namespace {

using Words = NgramModel::Words;
constexpr std::int32_t kA = 3, kB = 4, kC = 5;
constexpr double kNear = 1e-6;  // probabilities are kept as floats

const std::vector<Words> kTwo{{kA, kB}, {kA, kC}};

// "a b" and "a c" in two words. Bigrams: <s> a 2, the four others 1, so D = 4 / (4 + 2). Words before a, b and c: one,
// before the end: two, so D = 3 / (3 + 2); of words without a history 0.6 · 4 / 5 is left to five words.
TEST(NgramModel, HasTheProbabilitiesOfKneserAndNey) {
  const NgramModel model(kTwo, {.order = 2, .vocabulary = 6});
  const auto p = [&](Words history, std::int32_t word) { return model.probability(history, word); };
  EXPECT_NEAR(p({}, kA), 0.4 / 5 + 0.48 / 5, kNear);
  EXPECT_NEAR(p({}, kEnd), 1.4 / 5 + 0.48 / 5, kNear);
  EXPECT_NEAR(p({}, kUnknown), 0.48 / 5, kNear);
  EXPECT_NEAR(p({kBegin}, kA), (2 - 2.0 / 3) / 2 + 1.0 / 3 * 0.176, kNear);
  EXPECT_NEAR(p({kA}, kB), (1 - 2.0 / 3) / 2 + 2.0 / 3 * 0.176, kNear);
  EXPECT_NEAR(p({kB}, kEnd), (1 - 2.0 / 3) + 2.0 / 3 * 0.376, kNear);
  EXPECT_NEAR(p({kB}, kC), 2.0 / 3 * 0.176, kNear);
  EXPECT_NEAR(p({kUnknown}, kC), 0.176, kNear);  // a history that nobody saw
  EXPECT_NEAR(p({kC, kC, kA}, kB), p({kA}, kB), kNear);
  EXPECT_NEAR(model.log_probability(kTwo.front()),
              std::log(p({kBegin}, kA)) + std::log(p({kA}, kB)) + std::log(p({kB}, kEnd)), kNear);
}

// "a b a" in three words. Its three longest grams occur once: D = 1, which leaves all to shorter ones. Those of two
// words: <s> a by its count 1, a b, b a and a </s> follow one word each: D = 1 again; words: a follows two, b and the
// end one: D = 2 / (2 + 2), and 0.5 · 3 / 4 is left.
TEST(NgramModel, CountsWhatComesBeforeAllButTheLongest) {
  const std::vector<Words> sentence{{kA, kB, kA}};
  const NgramModel model(sentence, {.order = 3, .vocabulary = 5});
  EXPECT_NEAR(model.probability(Words{}, kA), 1.5 / 4 + 0.375 / 4, kNear);
  EXPECT_NEAR(model.probability(Words{}, kB), 0.5 / 4 + 0.375 / 4, kNear);
  EXPECT_NEAR(model.probability(Words{kBegin, kA}, kB), 0.5 / 4 + 0.375 / 4, kNear);
  EXPECT_EQ(model.grams(1), 4);  // with the begin
  EXPECT_EQ(model.grams(2), 4);
  EXPECT_EQ(model.grams(3), 3);
}

std::vector<Words> drawn_sentences(Index count, Index vocabulary) {
  RandomSequence random({7});
  std::vector<Words> sentences(static_cast<std::size_t>(count));
  for (Words& sentence : sentences)
    for (Index length = 1 + static_cast<Index>(random.below(9)); length > 0; --length) {
      const bool common = random.below(2) == 0;
      sentence.push_back(
          common ? kA : static_cast<std::int32_t>(kA + random.below(static_cast<std::uint64_t>(vocabulary - kA))));
    }
  return sentences;
}

TEST(NgramModel, WhatCanFollowSumsToOneWhateverIsLeftOut) {
  constexpr Index kVocabulary = 9;
  const std::vector<Words> sentences = drawn_sentences(60, kVocabulary);
  for (const Index least : {1, 2, 5})
    for (const Index order : {1, 2, 4, 8}) {
      const NgramModel model(sentences, {.order = order, .vocabulary = kVocabulary, .least = least});
      for (const Words& history : {Words{}, Words{kBegin}, Words{kA, kA}, Words{kBegin, kA, kA}, Words{8, kA, 8, kA},
                                   sentences[3], sentences[4]}) {
        double sum = 0;
        for (std::int32_t word = 0; word < kVocabulary; ++word)
          if (word != kBegin) sum += model.probability(history, word);
        EXPECT_NEAR(sum, 1, 1e-5) << order << " " << least;
      }
    }
}

TEST(NgramModel, RareLongGramsAreLeftOut) {
  const std::vector<Words> sentences = drawn_sentences(60, 9);
  const NgramModel all(sentences, {.order = 4, .vocabulary = 9}),
      few(sentences, {.order = 4, .vocabulary = 9, .least = 2});
  EXPECT_EQ(few.grams(2), all.grams(2));
  EXPECT_LT(few.grams(3), all.grams(3));
  EXPECT_LT(few.grams(4), all.grams(4));
}

TEST(NgramModel, ASentenceOfTheTextsIsMoreProbableThanAnother) {
  const std::vector<Words> sentences = drawn_sentences(60, 9);
  const NgramModel model(sentences, {.order = 8, .vocabulary = 9});
  double own = 0, turned = 0;
  for (const Words& sentence : sentences) {
    own += model.log_probability(sentence);
    turned += model.log_probability(Words(sentence.rbegin(), sentence.rend()));
  }
  EXPECT_GT(own, turned);
}

TEST(NgramModel, WithoutATextEveryWordIsAsProbable) {
  const NgramModel model(std::span<const Words>{}, {.order = 3, .vocabulary = 5});
  EXPECT_DOUBLE_EQ(model.probability(Words{kA}, kB), 0.25);
}

TEST(NgramModel, ComesBackFromItsBytesAndDamageIsSeen) {
  const NgramModel model(kTwo, {.order = 3, .vocabulary = 6});
  const std::string bytes = model.bytes();
  const NgramModel back(bytes, "file");
  EXPECT_EQ(back.bytes(), bytes);
  EXPECT_EQ(back.log_probability(kTwo.front()), model.log_probability(kTwo.front()));
  EXPECT_EQ(message_of([&] { NgramModel("something else", "file"); }), "file: it has no n-grams of this version");
  EXPECT_EQ(message_of([&] { NgramModel(std::string_view(bytes).substr(0, 30), "file"); }),
            "file: it is damaged: it ends too early");
  int refused = 0;
  for (std::size_t i = 16; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(0xFF);
    try {
      const NgramModel read(damaged, "file");
      EXPECT_GE(read.probability(Words{kBegin, kA}, kB), 0);  // what is not seen does no harm
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()) / 4);
}

TEST(NgramModel, WordsOutsideTheVocabularyAreRefused) {
  EXPECT_EQ(message_of([] { NgramModel(kTwo, {.order = 2, .vocabulary = 5}); }),
            "[ngram_model] 5 is no word of a vocabulary of 5");
  EXPECT_EQ(message_of([] { NgramModel(kTwo, {.order = 0, .vocabulary = 6}); }),
            "[ngram_model] the order 0 is not 1 to 32");
}

}  // namespace
}  // namespace heed::test
