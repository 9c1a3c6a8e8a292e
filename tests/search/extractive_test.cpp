#include "heed/search/extractive.h"

#include <gtest/gtest.h>

#include "heed/search/search.h"
#include "search/table_decoding.h"

namespace heed::test {
namespace {

using Words = std::vector<std::int32_t>;

TEST(ExtractiveFeatures, SayHowWordsStandInTheText) {
  const Words text{3, 4, 5, 6, 4};
  EXPECT_EQ(extractive_features(text, Words{9}), (ExtractiveValues{0, 0, 0, 0}));
  EXPECT_EQ(extractive_features(text, Words{9, 4}), (ExtractiveValues{1, 0, 0, 0}));
  EXPECT_EQ(extractive_features(text, Words{3, 4}), (ExtractiveValues{1, 1, 0, 0}));
  EXPECT_EQ(extractive_features(text, Words{4, 5}), (ExtractiveValues{1, 1, 0, 1}));  // 4 stands behind 5 too
  EXPECT_EQ(extractive_features(text, Words{6, 3}), (ExtractiveValues{1, 0, 0, 1}));
  EXPECT_EQ(extractive_features(text, Words{3, 4, 5}), (ExtractiveValues{1, 1, 1, 1}));
  EXPECT_EQ(extractive_features(text, Words{}), (ExtractiveValues{0, 0, 0, 0}));
  EXPECT_EQ(summed_extractive_features(text, Words{3, 4, 9, 6}), (ExtractiveValues{3, 1, 0, 0}));
}

Hypotheses search(const WordTables& tables, const ExtractiveValues* weights) {
  std::unique_ptr<Decoding> decoding = std::make_unique<TableDecoding>(tables);
  if (weights)
    decoding = std::make_unique<ExtractiveDecoding>(
        std::move(decoding), std::vector<Words>(static_cast<std::size_t>(decoding->rows()), Words{3, 5, 4}), *weights);
  return beam_search(*decoding, tables.length_ids(),
                     {.beam = 4, .best = 3, .length_penalty = 0, .bonus = weights ? 2.1 : 0});
}

// Without weights nothing changes; with them a score is the log-probability and the bonus of all words.
TEST(ExtractiveDecoding, AddsTheBonusAndNothingElse) {
  const WordTables tables = WordTables::random(5, 8, 2);
  const ExtractiveValues none{}, some{0.7, 1.1, -0.4, 0.3};
  const Hypotheses plain = search(tables, nullptr), same = search(tables, &none), turned = search(tables, &some);
  bool changed = false;
  for (std::size_t s = 0; s < plain.size(); ++s) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(plain[s][k].words, same[s][k].words);
      EXPECT_NEAR(plain[s][k].score, same[s][k].score, 1e-5);
      const Hypothesis& found = turned[s][k];
      const ExtractiveValues values = summed_extractive_features(Words{3, 5, 4}, found.words);
      double score = tables.log_probability(static_cast<Index>(s), found.words);
      for (std::size_t i = 0; i < values.size(); ++i) score += some[i] * values[i];
      EXPECT_NEAR(found.score, score, 1e-4);
    }
    changed = changed || plain[s][0].words != turned[s][0].words;
  }
  EXPECT_TRUE(changed);
}

}  // namespace
}  // namespace heed::test
