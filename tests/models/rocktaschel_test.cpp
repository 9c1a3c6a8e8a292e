#include "heed/models/rocktaschel.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "models/chooser_cases.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

TEST(Rocktaschel, APremiseOfOneWordIsAllThatIsSeen) {
  const TinyChooser tiny(ChooserVariant{{"rocktaschel", {}}, 2});
  const std::vector<Source> pair{sentences({{7, 2}}), sentences({{4, 9, 2}})};
  const Tensor weights = tiny.chooser->forward(pair, {.alignment = true}).alignment.value().contiguous();
  // Rows: two words and the end; columns: a word and the end.
  ASSERT_EQ(weights.shape(), (Shape{1, 3, 2}));
  const std::vector<Real> expected{1, 0, 1, 0, 0, 0};
  for (Index i = 0; i < weights.size(); ++i) EXPECT_EQ(weights.data()[i], expected[static_cast<std::size_t>(i)]) << i;
}

// Without what it remembers, the last word's look is the look of the whole hypothesis.
TEST(Rocktaschel, WordByWordWithoutMemoryIsOneLook) {
  TinyChooser steps(ChooserVariant{{"rocktaschel", {}}, 2}),
      once(ChooserVariant{{"rocktaschel", {{"reading", "attention"}}}, 2});
  for (const char* name : {"attention.score.read.weight", "attention.score.transition.weight"})
    set_to_zero(steps.parameters, name);
  copy_parameters(steps.parameters, once.parameters);
  EXPECT_LE(distance(steps.chooser->forward(some_texts(2)).scores.value(),
                     once.chooser->forward(some_texts(2)).scores.value()),
            1e-6);
}

// Both ways have the same parameters: of a pair of equal texts they give the same.
TEST(Rocktaschel, BothWaysOfEqualTextsAreOne) {
  TinyChooser tiny(ChooserVariant{{"rocktaschel", {{"two-way", "true"}}}, 2});
  const Source text = sentences({{3, 7, 4, 9, 2}}), other = sentences({{8, 10, 2}});
  const Tensor equal = tiny.chooser->forward({text, text}).scores.value().copy(),
               unequal = tiny.chooser->forward({text, other}).scores.value().copy();
  Tensor labels = tiny.parameters.at("labels.weight").value();
  const Index half = labels.size(0) / 2 * labels.size(1);
  std::swap_ranges(labels.data(), labels.data() + half, labels.data() + half);
  EXPECT_LE(distance(equal, tiny.chooser->forward({text, text}).scores.value()), 1e-6);
  EXPECT_GT(distance(unequal, tiny.chooser->forward({text, other}).scores.value()), 1e-3);
}

// Words that are compared with words: where the premise's stand does not count. States that have read it know.
TEST(Rocktaschel, WordsAreMatchedWithABagOfWordsAndStatesAreNot) {
  const std::vector<Source> pair{sentences({{3, 7, 9, 2}}), sentences({{9, 4, 2}})},
      turned{sentences({{9, 3, 7, 2}}), sentences({{9, 4, 2}})};
  for (const char* memory : {"words", "states"}) {
    const TinyChooser tiny(ChooserVariant{{"rocktaschel", {{"reading", "match"}, {"memory", memory}}}, 2});
    const auto scores = [&](const std::vector<Source>& inputs) { return tiny.chooser->forward(inputs).scores.value(); };
    if (std::string(memory) == "words")
      EXPECT_LE(distance(scores(pair), scores(turned)), 1e-6);
    else
      EXPECT_GT(distance(scores(pair), scores(turned)), 1e-4);
  }
}

TEST(Rocktaschel, ReadsAPair) { EXPECT_THROW(TinyChooser(ChooserVariant{{"rocktaschel", {}}, 1}), Error); }

}  // namespace
}  // namespace heed::test
