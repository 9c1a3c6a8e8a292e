#include "heed/models/show_attend_tell.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/shape.h"
#include "models/translation_cases.h"

// What Xu et al. 2015 promise of their model; estimator and penalty by themselves are in tests/attention.

namespace heed::test {
namespace {

Source some_images() { return as_read_by({"show-attend-tell", {}}, some_sources()); }

Tensor caption_logits(const TinyModel& tiny, const Source& images, const ForwardOptions& options = {}) {
  return tiny.model->forward(images, some_previous(), options).words.logits().value().contiguous();
}

// Scores so far apart that the softmax is one-hot: one region alone is read, sampled or not.
TEST(ShowAttendTell, HardIsSoftWhereTheWeightsAreOneHot) {
  const TinyModel soft({"show-attend-tell", {}});
  const TinyModel hard({"show-attend-tell", {{"attention", "hard"}, {"soft-mixing", "0"}, {"doubly-stochastic", "0"}}});
  for (const TinyModel* tiny : {&soft, &hard})
    for (const Parameters::Entry& entry : tiny->parameters.entries())
      if (entry.name == "attention.score.v")
        for (Real& number : Tensor(entry.var.value()).values()) number *= 10000;
  const Source images = some_images();
  const TeacherForced looked = soft.model->forward(images, some_previous(), {.alignment = true});
  for (const Real weight : looked.alignment.value().contiguous().values()) EXPECT_TRUE(weight == 0 || weight == 1);
  const Tensor expected = caption_logits(soft, images);
  EXPECT_LE(distance(expected, caption_logits(hard, images)), 1e-5);
  Random random(1);
  EXPECT_LE(distance(expected, caption_logits(hard, images, {.random = &random})), 1e-5);
}

TEST(ShowAttendTell, ExpectedContextIsThatOfSoftAttention) {
  const TinyModel soft({"show-attend-tell", {}});
  const TinyModel expected({"show-attend-tell", {{"attention", "hard"}, {"expected", "true"}}});
  const TinyModel best({"show-attend-tell", {{"attention", "hard"}}});
  EXPECT_LE(distance(caption_logits(soft, some_images()), caption_logits(expected, some_images())), 1e-6);
  EXPECT_GT(distance(caption_logits(soft, some_images()), caption_logits(best, some_images())), 1e-3);
}

TEST(ShowAttendTell, WithoutAttentionTheMeanIsReadAtEveryStep) {
  const TinyModel tiny({"show-attend-tell", {{"attention", "none"}}});
  const Source images = some_images();
  const TeacherForced forced = tiny.model->forward(images, some_previous(), {.alignment = true});
  const Tensor weights = forced.alignment.value().contiguous();
  for (Index b = 0; b < images.batch(); ++b)
    for (Index t = 0; t < weights.size(1); ++t)
      for (Index j = 0; j < images.lengths.data()[b]; ++j)
        EXPECT_NEAR(static_cast<double>(weights.at({b, t, j})), 1.0 / images.lengths.data()[b], 1e-6);
  Random random(1);
  EXPECT_FALSE(tiny.model->forward(images, some_previous(), {.random = &random}).penalty);
}

// β = 0: nothing of the regions is read, and only the first state knows the image.
TEST(ShowAttendTell, AClosedGateShutsTheImageOut) {
  TinyModel tiny({"show-attend-tell", {}});
  fill(tiny.parameters, "gate.bias", -1000);
  fill(tiny.parameters, "start.weight", 0);
  Source other = some_images();
  const Tensor before = caption_logits(tiny, other);
  for (Real& number : other.features.values()) number += 1;
  EXPECT_TRUE(same_bits(before, caption_logits(tiny, other)));
  fill(tiny.parameters, "gate.bias", 0);
  EXPECT_FALSE(same_bits(before, caption_logits(tiny, other)));
}

// One decision for all steps of a batch: every look is a sample, or every look is the expected one.
TEST(ShowAttendTell, SoftMixingIsOfWholeBatches) {
  const TinyModel tiny({"show-attend-tell", {{"attention", "hard"}, {"soft-mixing", "0.5"}}});
  int sampled = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const TeacherForced forced =
        tiny.model->forward(some_images(), some_previous(), {.random = &random, .alignment = true});
    int sharp = 0, looks = 0;
    const Tensor weights = forced.alignment.value().contiguous();
    for (Index row = 0; row < weights.size(1); ++row, ++looks)  // of the first image, which has five regions
      sharp +=
          *std::max_element(weights.data() + row * weights.size(2), weights.data() + (row + 1) * weights.size(2)) == 1;
    EXPECT_TRUE(sharp == 0 || sharp == looks) << sharp << " of " << looks;
    EXPECT_EQ(forced.reward.words > 0, sharp == looks);
    sampled += sharp == looks;
  }
  EXPECT_NEAR(sampled, 50, 20);
}

// The word that was read last changes where a query with it looks, and no other's.
TEST(ShowAttendTell, TheLastWordMayBePartOfTheQuery) {
  for (const bool asked : {false, true}) {
    const TinyModel tiny({"show-attend-tell", {{"query-word", asked ? "true" : "false"}}});
    const auto first_look = [&](std::int32_t word) {
      const Source previous{.words = Ids(Shape{1, 1}, word), .lengths = Ids(Shape{1}, std::int32_t{1})};
      const Source images = some_images();
      const Source one{.lengths = images.lengths.slice(0, 0, 1).contiguous(),
                       .features = images.features.slice(0, 0, 1).contiguous()};
      return tiny.model->forward(one, previous, {.alignment = true}).alignment.value().contiguous();
    };
    EXPECT_EQ(same_bits(first_look(4), first_look(5)), !asked);
  }
}

// Regions that are alike stay so, and a picture of one region is as good as one of many such.
TEST(ShowAttendTell, EveryRegionLosesTheSameNumbers) {
  const TinyModel tiny({"show-attend-tell", {{"region-dropout", "0.5"}, {"dropout", "0"}}});
  const Index batch = some_images().batch();
  Source one = some_images(), three = one;
  one.features = one.features.slice(1, 0, 1).contiguous();
  one.lengths = Ids(Shape{batch}, 1);
  three.features = concat({Var(one.features), Var(one.features), Var(one.features)}, 1).value();
  three.lengths = Ids(Shape{batch}, 3);
  const auto dropped = [&](const Source& images) {
    Random random(1);
    return caption_logits(tiny, images, {.random = &random});
  };
  EXPECT_LE(distance(dropped(one), dropped(three)), 1e-5);
  EXPECT_GT(distance(dropped(one), caption_logits(tiny, one)), 1e-3);
}

// Words and regions of padding take no part: the penalty of a batch is the sum of its samples' own.
TEST(ShowAttendTell, ThePenaltyIsOfRealWordsAndRegions) {
  const TinyModel tiny({"show-attend-tell", {{"doubly-stochastic", "0.5"}, {"focus", "0.25"}}});
  const Source images = some_images(), previous = some_previous();
  const auto penalty = [&](const Source& source, const Source& words) {
    Random random(1);
    return static_cast<double>(tiny.model->forward(source, words, {.random = &random}).penalty.value().item());
  };
  double alone = 0, by_hand = 0;
  for (Index b = 0; b < images.batch(); ++b) {
    const auto part = [b](const auto& x, Index length) {
      return x.slice(0, b, b + 1).slice(1, 0, length).contiguous();
    };
    const Index m = images.lengths.data()[b], n = previous.lengths.data()[b];
    const Source source{.lengths = Ids(Shape{1}, static_cast<std::int32_t>(m)), .features = part(images.features, m)};
    const Source words{.words = part(previous.words, n), .lengths = Ids(Shape{1}, static_cast<std::int32_t>(n))};
    alone += penalty(source, words);
    const Tensor weights = tiny.model->forward(source, words, {.alignment = true}).alignment.value().contiguous();
    for (Index j = 0; j < m; ++j) {
      double looked = 0;
      for (Index t = 0; t < n; ++t) {
        const auto weight = static_cast<double>(weights.at({0, t, j}));
        looked += weight;
        by_hand -= 0.25 * weight * std::log(weight);
      }
      by_hand += 0.5 * (1 - looked) * (1 - looked);
    }
  }
  EXPECT_NEAR(penalty(images, previous), alone, 1e-4);
  EXPECT_NEAR(alone, by_hand, 1e-4);
}

}  // namespace
}  // namespace heed::test
