#include "heed/models/self_attentive.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "models/chooser_cases.h"

namespace heed::test {
namespace {

TEST(SelfAttentive, EveryRowSumsToOneOverItsText) {
  const TinyChooser tiny(ChooserVariant{{"self-attentive", {{"rows", "3"}}}, 2});
  std::vector<AttentionOfBatch> seen;
  tiny.chooser->forward(some_texts(2), {.trace = &seen});
  for (const AttentionOfBatch& attention : seen) {
    const Index m = attention.weights.size(3);
    for (Index row = 0; row < attention.weights.size() / m; ++row) {
      double sum = 0;
      for (Index j = 0; j < m; ++j) sum += static_cast<double>(attention.weights.data()[row * m + j]);
      EXPECT_NEAR(sum, 1, 1e-6) << attention.name << " row " << row;
    }
  }
}

TEST(SelfAttentive, PenalisesRowsThatLookAtTheSamePlacesInTrainingAlone) {
  const TinyChooser many(ChooserVariant{{"self-attentive", {{"rows", "3"}, {"penalty", "1"}}}, 1}),
      one(ChooserVariant{{"self-attentive", {{"rows", "1"}, {"penalty", "1"}}}, 1});
  Random random(1);
  EXPECT_GT(many.chooser->forward(some_texts(1), {.random = &random}).penalty.value().item(), 0);
  EXPECT_FALSE(many.chooser->forward(some_texts(1)).penalty);
  EXPECT_FALSE(one.chooser->forward(some_texts(1), {.random = &random}).penalty);
}

TEST(SelfAttentive, TheAlignmentIsTheMeanOfTheRows) {
  const TinyChooser tiny(ChooserVariant{{"self-attentive", {{"rows", "2"}}}, 1});
  std::vector<AttentionOfBatch> seen;
  const Chosen chosen = tiny.chooser->forward(some_texts(1), {.alignment = true, .trace = &seen});
  const Tensor rows = seen.front().weights, mean = chosen.alignment.value().contiguous();
  const Index m = mean.size(2);
  for (Index b = 0; b < 3; ++b)
    for (Index j = 0; j < m; ++j)
      EXPECT_NEAR(static_cast<double>(mean.data()[b * m + j]),
                  static_cast<double>(rows.data()[2 * b * m + j] + rows.data()[(2 * b + 1) * m + j]) / 2, 1e-6);
}

}  // namespace
}  // namespace heed::test
