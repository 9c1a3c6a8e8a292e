#include "heed/models/han.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "models/chooser_cases.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

std::vector<std::int32_t> values(const Ids& ids) { return {ids.values().begin(), ids.values().end()}; }

// Yang et al.: context vectors of zero make every word and every sentence count alike.
TEST(Han, WithoutContextVectorsIsTheMean) {
  TinyChooser tiny(ChooserVariant{{"han", {}}, 1});
  set_to_zero(tiny.parameters, "word.attention.score.rows");
  set_to_zero(tiny.parameters, "sentence.attention.score.rows");
  const Tensor weights = tiny.chooser->forward(some_texts(1), {.alignment = true}).alignment.value().contiguous();
  // Sentences of 4 and 2 words, of nothing but the end, and of 2 words.
  const std::vector<double> expected{0.125, 0.125, 0.125, 0.125, 0.25, 0.25, 0,  //
                                     1,     0,     0,     0,     0,    0,    0,  //
                                     0.5,   0.5,   0,     0,     0,    0,    0};
  for (Index i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(static_cast<double>(weights.data()[i]), expected[static_cast<std::size_t>(i)], 1e-6) << i;
}

TEST(Han, UniformScoresGiveTheSameAsContextVectorsOfZero) {
  TinyChooser zero(ChooserVariant{{"han", {}}, 1}), uniform(ChooserVariant{{"han", {{"score", "uniform"}}}, 1});
  set_to_zero(zero.parameters, "word.attention.score.rows");
  set_to_zero(zero.parameters, "sentence.attention.score.rows");
  copy_parameters(zero.parameters, uniform.parameters);
  EXPECT_LE(distance(zero.chooser->forward(some_texts(1)).scores.value(),
                     uniform.chooser->forward(some_texts(1)).scores.value()),
            1e-6);
}

TEST(Han, SentencesOfPaddingChangeNothing) {
  const TinyChooser tiny(ChooserVariant{{"han", {}}, 1});
  std::vector<Source> more = some_texts(1);
  Ids ends(Shape{3, 5}, 0);
  for (Index b = 0; b < 3; ++b)
    for (Index s = 0; s < 2; ++s) ends.data()[b * 5 + s] = more[0].ends.data()[b * 2 + s];
  more[0].ends = ends;
  EXPECT_TRUE(
      same_bits(tiny.chooser->forward(some_texts(1)).scores.value(), tiny.chooser->forward(more).scores.value()));
}

TEST(Han, WeightsSumToOneOverTheDocument) {
  const TinyChooser tiny(ChooserVariant{{"han", {}}, 1});
  const Tensor weights = tiny.chooser->forward(some_texts(1), {.alignment = true}).alignment.value().contiguous();
  for (Index b = 0; b < 3; ++b) {
    double sum = 0;
    for (Index j = 0; j < 7; ++j) sum += static_cast<double>(weights.data()[b * 7 + j]);
    EXPECT_NEAR(sum, 1, 1e-6) << b;
  }
}

TEST(SentenceRows, HaveOneSentenceEach) {
  const SentenceRows all = sentence_rows(some_texts(1)[0], 60);
  EXPECT_EQ(values(all.lengths), (std::vector<std::int32_t>{4, 2, 1, 2}));
  EXPECT_EQ(values(all.words), (std::vector<std::int32_t>{3, 7, 4, 9, 10, 3, 0, 0, 2, 0, 0, 0, 5, 6, 0, 0}));
  EXPECT_EQ(values(all.rows), (std::vector<std::int32_t>{0, 1, 2, 0, 3, 0}));
  EXPECT_EQ(values(all.counts), (std::vector<std::int32_t>{2, 1, 1}));
}

TEST(SentenceRows, CutLongSentencesIntoEqualParts) {
  const SentenceRows all = sentence_rows(sentences({{3, 7, 4, 9, 10, 2}}), 3);
  EXPECT_EQ(values(all.lengths), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(values(all.words), (std::vector<std::int32_t>{3, 7, 0, 4, 9, 10}));
}

}  // namespace
}  // namespace heed::test
