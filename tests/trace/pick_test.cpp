#include "heed/trace/pick.h"

#include <gtest/gtest.h>

#include "trace/small_trace.h"
#include "heed/base/random.h"
#include "support/messages.h"

namespace heed::test {
namespace {

// Rows of numbers that sum to 1.
Tensor random_rows(Index n, Index m, std::uint64_t seed) {
  RandomSequence numbers(RandomKey{seed, 0});
  Tensor result(Shape{n, m});
  for (Index i = 0; i < n; ++i) {
    Real sum = 0;
    for (Index j = 0; j < m; ++j) sum += result.data()[i * m + j] = static_cast<Real>(numbers.uniform());
    for (Index j = 0; j < m; ++j) result.data()[i * m + j] /= sum;
  }
  return result;
}

double row_sum(const Tensor& weights, Index row) {
  double sum = 0;
  for (Index j = 0; j < weights.size(1); ++j) sum += static_cast<double>(weights.at({row, j}));
  return sum;
}

TEST(Picked, NothingAskedForIsTheModelsAlignment) {
  const Trace trace = picked(small_trace(), {});
  EXPECT_EQ(trace.alignment.at({0, 1}), Real{0.25F});
  EXPECT_TRUE(trace.attentions.empty());
  EXPECT_EQ(trace.trust.size(), 1u);
}

TEST(Picked, ALayerAndAHeadByNumber) {
  const Trace trace = small_trace();
  for (const AttentionPick& pick : {AttentionPick{"decoder.layer1.source", "", "2"},
                                    AttentionPick{"decoder.source", "1", "2"}, AttentionPick{"", "1", "2"}}) {
    const Trace one = picked(trace, pick);
    for (Index t = 0; t < 5; ++t)
      for (Index s = 0; s < 4; ++s) EXPECT_EQ(one.alignment.at({t, s}), s == std::min<Index>(t, 3) ? 1 : 0);
    EXPECT_TRUE(one.trust.empty());  // it was about another alignment
    EXPECT_EQ(one.log_probabilities.size(), 5u);
  }
}

TEST(Picked, HeadsAndLayersAveragedOrTheLargest) {
  const Trace trace = small_trace();
  EXPECT_EQ(picked(trace, {"decoder.layer1.source", "", "mean"}).alignment.at({1, 0}), Real{0.5F});
  EXPECT_EQ(picked(trace, {"decoder.layer1.source", "", ""}).alignment.at({1, 1}), Real{0.5F});
  EXPECT_EQ(picked(trace, {"decoder.layer1.source", "", "max"}).alignment.at({1, 1}), 1);
  EXPECT_EQ(picked(trace, {"decoder.source", "mean", "mean"}).alignment.at({1, 0}), Real{0.375F});
  EXPECT_EQ(picked(trace, {"decoder.source", "", "1"}).alignment.at({1, 0}), Real{0.625F});
}

TEST(Picked, BothDirectionsStandOneBelowTheOther) {
  Trace trace = small_trace();
  Tensor back(Shape{1, 4, 5}, Real{0});
  back.data()[2 * 5 + 1] = Real{0.75F};  // the third token of the source looks at the second of the target
  trace.attentions.push_back({"source.target", 1, "source", "target", back});
  const Trace both = picked(trace, {.attention = kBothDirections});
  EXPECT_EQ(both.columns, "source");
  ASSERT_EQ(both.alignment.shape(), (Shape{10, 4}));
  EXPECT_EQ(labels_of(both.row_axis())[1], "▁猫 →");
  EXPECT_EQ(labels_of(both.row_axis())[6], "▁猫 ←");
  EXPECT_EQ(both.alignment.at({1, 1}), Real{0.5F});  // the mean of two heads
  EXPECT_EQ(both.alignment.at({6, 2}), Real{0.75F});
  EXPECT_EQ(both.alignment.at({6, 1}), 0);
  EXPECT_TRUE(both.log_probabilities.empty());
  EXPECT_EQ(message_of([] { picked(small_trace(), {.attention = kBothDirections}); }),
            "[explain] pairs: no two axes of the model demo look at each other");
  EXPECT_EQ(message_of([&] { picked(trace, {.attention = kBothDirections, .head = "1"}); }),
            "[explain] pairs: it has both directions, and no layer, head or rollout of its own");
}

TEST(Picked, AnEncodersAttentionIsBetweenTheSourceAndItself) {
  const Trace self = picked(small_trace(), {"encoder.self", "", ""});
  EXPECT_EQ(self.row_axis().name, "source");
  EXPECT_EQ(self.column_axis().name, "source");
  EXPECT_EQ(self.output().text.text, "le 猫 chats");  // axes stay
  EXPECT_EQ(self.alignment.shape(), (Shape{4, 4}));
  EXPECT_TRUE(self.log_probabilities.empty());
  EXPECT_TRUE(self.beam.empty());
}

TEST(Picked, WhatIsNotThereIsAnErrorWithWhatThereIs) {
  const auto message = [](const AttentionPick& pick) { return message_of([&] { picked(small_trace(), pick); }); };
  EXPECT_EQ(message({"decoder.layer1.sorce", "", ""}),
            "[explain] there is no attention decoder.layer1.sorce; did you mean decoder.layer1.source?");
  EXPECT_EQ(message({"decoder.layer1.source", "", "3"}),
            "[explain] there is no head 3 of decoder.layer1.source, which has 2");
  EXPECT_EQ(message({"decoder.source", "3", ""}), "[explain] there is no layer 3 of decoder.source, which has 2");
  EXPECT_EQ(message({"decoder.source", "0", ""}), "[explain] there is no layer 0 of decoder.source, which has 2");
  EXPECT_EQ(message({"", "", "first"}), "[explain] head first: it must be a number, mean, max or each");
  EXPECT_EQ(message({"", "1x", ""}), "[explain] layer 1x: it must be a number or mean");
  Trace blind = small_trace();
  blind.attentions.clear();
  EXPECT_EQ(message_of([&] {
              picked(blind, {"decoder.source", "", ""});
            }),
            "[explain] the model demo has no attention");
  blind.alignment = {};
  EXPECT_EQ(message_of([&] { picked(blind, {.rollout = true}); }), "[explain] the model demo has no attention");
}

TEST(Rollout, OfOneLayerIsHalfItselfAndHalfTheIdentity) {
  const Tensor layer = random_rows(5, 5, 3);
  const Tensor rolled = attention_rollout(std::vector<Tensor>{layer});
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) EXPECT_NEAR(rolled.at({i, j}), (layer.at({i, j}) + (i == j ? 1 : 0)) / 2, 1e-7);
}

TEST(Rollout, RowsSumToOneAndLaterLayersComeFromTheLeft) {
  const std::vector<Tensor> layers{random_rows(6, 6, 1), random_rows(6, 6, 2), random_rows(6, 6, 4)};
  const Tensor rolled = attention_rollout(layers);
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(row_sum(rolled, i), 1, 1e-5);
  // Two layers by hand: the second's rows mix what the first has gathered.
  const Tensor first = attention_rollout(std::vector<Tensor>{layers[0]}),
               second = attention_rollout(std::vector<Tensor>{layers[1]}),
               both = attention_rollout(std::vector<Tensor>{layers[0], layers[1]});
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) {
      double sum = 0;
      for (Index k = 0; k < 6; ++k) sum += static_cast<double>(second.at({i, k}) * first.at({k, j}));
      EXPECT_NEAR(both.at({i, j}), sum, 1e-6);
    }
  EXPECT_EQ(message_of([] { attention_rollout({}); }), "[rollout] there is no layer to roll out");
  EXPECT_EQ(message_of([&] {
              attention_rollout(std::vector<Tensor>{layers[0], random_rows(2, 2, 1)});
            }),
            "[rollout] layers [6, 6] and [2, 2] are not squares of one size");
}

TEST(Rollout, GoesThroughTheEncoderToTheWords) {
  const Trace trace = small_trace();
  // The encoder's one layer looks at the next token: half of each weight moves on by one.
  const Trace own = picked(trace, {.attention = "encoder.self", .rollout = true});
  EXPECT_EQ(own.alignment.at({0, 0}), Real{0.5F});
  EXPECT_EQ(own.alignment.at({0, 1}), Real{0.5F});
  const Trace rolled = picked(trace, {.rollout = true});
  for (Index t = 0; t < 5; ++t) {
    EXPECT_NEAR(row_sum(rolled.alignment, t), 1, 1e-6);
    for (Index s = 0; s < 4; ++s)
      EXPECT_NEAR(rolled.alignment.at({t, s}), (trace.alignment.at({t, s}) + trace.alignment.at({t, (s + 3) % 4})) / 2,
                  1e-6);
  }
}

TEST(Picked, AxesComeFromTheFieldsAndNeverFromTheName) {
  Trace trace = traces_of_version_2().at(0);
  trace.attentions[0].name = "encoder.layer7.self";  // from the label to the premise
  const Trace one = picked(trace, {"encoder.layer7.self", "1", ""});
  EXPECT_EQ(one.rows, "label");
  EXPECT_EQ(one.columns, "premise");
  EXPECT_EQ(one.alignment.shape(), (Shape{1, 7}));
  EXPECT_EQ(one.choices.size(), 3u);
  // By kind, it would be averaged with another between other axes.
  EXPECT_EQ(message_of([&] {
              picked(trace, {"encoder.self", "", ""});
            }),
            "[explain] encoder.self is from label to premise in layer 1 and from hypothesis to hypothesis in layer 1; "
            "name one of them");
  const Trace own = picked(traces_of_version_2().at(0), {"encoder.self", "", ""});
  EXPECT_EQ(own.rows, "hypothesis");
  EXPECT_TRUE(own.choices.empty());  // they are not what the hypothesis looked at
  // Without a name it is what the alignment is between, of which the trace has no layer.
  EXPECT_EQ(message_of([&] {
              picked(trace, {"", "1", ""});
            }),
            "[explain] the model snli has no attention from hypothesis to premise");
}

TEST(Rollout, GoesOnThroughTheInputThatIsLookedAt) {
  Trace trace = traces_of_version_2().at(0);
  EXPECT_EQ(message_of([&] { picked(trace, {.rollout = true}); }),
            "[explain] the model snli has no attention from premise to premise");
  Tensor next(Shape{1, 7, 7}, Real{0});
  for (Index i = 0; i < 7; ++i) next.data()[i * 7 + (i + 1) % 7] = 1;
  trace.attentions.push_back({"anything", 1, "premise", "premise", next});
  const Tensor rolled = picked(trace, {.rollout = true}).alignment;
  for (Index t = 0; t < 4; ++t)
    for (Index s = 0; s < 7; ++s)
      EXPECT_NEAR(rolled.at({t, s}), (trace.alignment.at({t, s}) + trace.alignment.at({t, (s + 6) % 7})) / 2, 1e-6);
}

TEST(Rollout, OfADecoderCountsTheBegin) {
  Trace trace = small_trace();
  // Every step looks evenly at all that it has read: the begin and the tokens before it.
  Tensor even(Shape{1, 5, 5}, Real{0});
  for (Index t = 0; t < 5; ++t)
    for (Index j = 0; j < t; ++j) even.data()[t * 5 + j] = Real{1} / static_cast<Real>(t + 1);
  trace.attentions.push_back({"decoder.layer1.self", 1, "target", "target", even});
  const Tensor rolled = picked(trace, {.attention = "decoder.self", .rollout = true}).alignment;
  EXPECT_EQ(row_sum(rolled, 0), 0);  // nothing but the begin
  // One layer: half of the even share, and the other half on what the step has just read.
  EXPECT_NEAR(rolled.at({2, 0}), 1.0 / 6, 1e-6);
  EXPECT_NEAR(rolled.at({2, 1}), 1.0 / 6 + 0.5, 1e-6);
  EXPECT_EQ(rolled.at({2, 2}), 0);
}

TEST(HeadsByError, TheHeadThatGoesAlongIsTheBest) {
  const std::vector<Trace> traces(2, small_trace());
  const std::vector<AlignmentLinks> gold(2, parse_alignment("0-0 1-1 1-2"));
  const std::vector<HeadError> heads = heads_by_error(traces, gold);
  ASSERT_EQ(heads.size(), 4u);
  EXPECT_EQ(heads[0].attention, "decoder.layer1.source");
  EXPECT_EQ(heads[0].head, 2);
  EXPECT_EQ(heads[0].error, 0);
  for (std::size_t i = 1; i < heads.size(); ++i) EXPECT_GE(heads[i].error, heads[i - 1].error);
  EXPECT_GT(heads[1].error, 0);
  EXPECT_EQ(message_of([&] { heads_by_error(traces, std::span(gold).first(1)); }),
            "[explain] 1 gold alignments for 2 sentences");
}

// Lin et al. 2017: the rows of a self-attentive reader one by one, and all together.
TEST(Picked, HeadsOfALabelStandOneBelowAnother) {
  Trace trace = pair_trace({"a b", {{"a", 0, 1, 0}, {"b", 2, 3, 1}}, {{"a", 0, 1}, {"b", 2, 3}}},
                           {"x", {{"x", 0, 1, 0}}, {{"x", 0, 1}}});
  trace.axes[1].kind = Kind::label;
  trace.alignment = Tensor(Shape{1, 2}, {Real{0.5F}, Real{0.5F}});
  trace.attentions.push_back(
      {"label.first", 1, "target", "source", Tensor(Shape{2, 1, 2}, {1, 0, Real{0.5F}, Real{0.5F}})});
  const Trace heads = picked(trace, {.head = "each"});
  EXPECT_EQ(heads.rows, "head");
  EXPECT_EQ(labels_of(heads.row_axis()), (std::vector<std::string>{"1", "2", "mean"}));
  const std::vector<Real> expected{1, 0, Real{0.5F}, Real{0.5F}, Real{0.75F}, Real{0.25F}};
  ASSERT_EQ(heads.alignment.shape(), (Shape{3, 2}));
  for (Index i = 0; i < 6; ++i) EXPECT_EQ(heads.alignment.data()[i], expected[static_cast<std::size_t>(i)]) << i;
  EXPECT_EQ(heads.output().name, "target");
}

}  // namespace
}  // namespace heed::test
