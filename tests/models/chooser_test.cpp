#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/loss.h"
#include "heed/train/optimiser.h"
#include "models/chooser_cases.h"

namespace heed::test {
namespace {

class EveryChooser : public testing::TestWithParam<ChooserVariant> {};
INSTANTIATE_TEST_SUITE_P(Choosers, EveryChooser, testing::ValuesIn(every_chooser_variant()),
                         [](const auto& at) { return test_name(at.param); });

Tensor row_of_sample(const Tensor& x, Index b) { return x.slice(0, b, b + 1).contiguous().reshape(Shape{x.size(1)}); }

TEST_P(EveryChooser, ASampleDoesNotKnowItsNeighbours) {
  const TinyChooser tiny(GetParam());
  const std::vector<Source> texts = some_texts(GetParam());
  const Chosen together = tiny.chooser->forward(texts, {.alignment = true});
  for (Index b = 0; b < 3; ++b) {
    const Chosen alone = tiny.chooser->forward(only_sample(texts, b), {.alignment = true});
    EXPECT_LE(distance(row_of_sample(together.scores.value(), b), row_of_sample(alone.scores.value(), 0)), 1e-5)
        << "sample " << b;
    if (!alone.alignment) continue;
    const Tensor own = alone.alignment.value().contiguous();
    const Tensor beside =
        together.alignment.value().slice(0, b, b + 1).slice(1, 0, own.size(1)).slice(2, 0, own.size(2)).contiguous();
    EXPECT_LE(distance(own, beside), 1e-5) << "sample " << b;
  }
}

TEST_P(EveryChooser, WhatStandsInThePaddingDoesNotMatter) {
  const TinyChooser tiny(GetParam());
  EXPECT_TRUE(same_bits(tiny.chooser->forward(some_texts(GetParam(), 0)).scores.value(),
                        tiny.chooser->forward(some_texts(GetParam(), 10)).scores.value()));
}

TEST_P(EveryChooser, TracesWhatItDeclares) {
  const TinyChooser tiny(GetParam());
  const std::vector<Source> texts = some_texts(GetParam());
  std::vector<AttentionOfBatch> seen;
  tiny.chooser->forward(texts, {.trace = &seen});
  const std::vector<AttentionShape> shapes = tiny.chooser->attentions();
  ASSERT_EQ(seen.size(), shapes.size());
  const auto length = [&](int axis) { return axis == kOutput ? 1 : texts[static_cast<std::size_t>(axis)].longest(); };
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].name, shapes[i].name);
    EXPECT_EQ(seen[i].weights.shape(), (Shape{3, shapes[i].heads, length(shapes[i].rows), length(shapes[i].columns)}));
  }
}

TEST_P(EveryChooser, LearnsThreeSamplesByHeart) {
  TinyChooser tiny(GetParam());
  const std::vector<Source> texts = some_texts(GetParam());
  Ids labels(Shape{3}, 0);
  labels.data()[1] = 2, labels.data()[2] = 1;
  Optimiser optimiser;
  double loss = 0;
  for (int step = 0; step < 300; ++step) {
    Random random(static_cast<std::uint64_t>(step));
    const Chosen chosen = tiny.chooser->forward(texts, {.random = &random});
    const Var each = cross_entropy(chosen.scores, labels);
    loss = static_cast<double>(each.value().item());
    if (loss < 0.1) break;
    optimiser.step(tiny.parameters, backward(each), Real{0.03F});
  }
  EXPECT_LT(loss, 0.1);
}

// Vectors that were given stay as they are, bit for bit, and the others do not.
TEST(FrozenVectors, StayWhileOthersLearn) {
  TinyChooser tiny(ChooserVariant{{"han", {{"frozen", "true"}}}, 1});
  const WordTable table = tiny.model->word_tables().front();
  const Tensor before = table.vectors.value().copy();
  Optimiser optimiser;
  for (int step = 0; step < 3; ++step) {
    Random random(1);
    optimiser.step(
        tiny.parameters,
        backward(cross_entropy(tiny.chooser->forward(some_texts(1), {.random = &random}).scores, Ids(Shape{3}, 1))),
        Real{0.1F});
  }
  const Tensor after = table.vectors.value();
  for (const std::int32_t word : {3, 9, 6})
    EXPECT_TRUE(same_bits(row_of_sample(before, word), row_of_sample(after, word))) << word;
  for (const std::int32_t word : {4, 5, 7, 10})
    EXPECT_GT(distance(row_of_sample(before, word), row_of_sample(after, word)), 1e-3) << word;
}

TEST(Bag, ReadsOneTextAlone) { EXPECT_THROW(TinyChooser(ChooserVariant{{"bag", {}}, 2}), Error); }

}  // namespace
}  // namespace heed::test
