#include "heed/trace/merge.h"

#include <gtest/gtest.h>

#include "trace/small_trace.h"
#include "support/messages.h"

namespace heed::test {
namespace {

std::vector<std::string> tokens(const Trace& trace, const char* axis) { return labels_of(trace.axis(axis)); }

void expect_weights(const Tensor& weights, const Shape& shape, const std::vector<double>& expected) {
  ASSERT_EQ(weights.shape(), shape);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(weights.contiguous().data()[i], expected[i], 1e-6) << i;
}

TEST(ByWords, SumsWhatIsLookedAtAndAveragesWhatLooks) {
  const Trace words = by_words(small_trace());
  EXPECT_EQ(tokens(words, "source"), (std::vector<std::string>{"the", "cats", "</s>"}));
  EXPECT_EQ(tokens(words, "target"), (std::vector<std::string>{"le", "猫", "chats", "</s>"}));
  EXPECT_EQ(words.axis("source").text.tokens[1].begin, 4);
  EXPECT_EQ(words.axis("source").text.tokens[1].end, 8);
  EXPECT_EQ(words.axis("target").text.tokens[2].word, 2);
  expect_weights(words.alignment, Shape{4, 3},
                 {0.5, 0.375, 0.125,   //
                  0, 0.75, 0.25,       //
                  0.25, 0.625, 0.125,  //
                  0, 0, 1});
  EXPECT_EQ(words.log_probabilities, (std::vector<double>{-0.5, -0.25, -3, -0.125}));
  EXPECT_EQ(words.trust.at(0).entropy, (std::vector<double>{1.2, 1, 0.75, 0}));
  // Each head for itself; the encoder's attention between its words.
  expect_weights(words.attentions.at(0).weights, Shape{2, 4, 3}, {1, 0, 0, 1, 0, 0, 1, 0,   0,   1, 0, 0,  //
                                                                  1, 0, 0, 0, 1, 0, 0, 0.5, 0.5, 0, 0, 1});
  expect_weights(words.attentions.at(2).weights, Shape{1, 3, 3}, {0, 1, 0, 0, 0.5, 0.5, 1, 0, 0});
  EXPECT_EQ(words.beam.size(), 2u);
}

TEST(ByWords, OfWordsChangesNothing) {
  const Trace once = by_words(small_trace()), twice = by_words(once);
  EXPECT_EQ(tokens(once, "target"), tokens(twice, "target"));
  expect_weights(twice.alignment, once.alignment.shape(),
                 {once.alignment.data(), once.alignment.data() + once.alignment.size()});
}

TEST(WithoutEnd, LeavesRowsAsTheyAreOrRescalesThem) {
  const Trace bare = without_end(small_trace());
  EXPECT_EQ(tokens(bare, "source"), (std::vector<std::string>{"▁the", "▁cat", "s"}));
  EXPECT_EQ(tokens(bare, "target"), (std::vector<std::string>{"▁le", "▁猫", "▁ch", "ats"}));
  expect_weights(bare.alignment, Shape{4, 3}, {0.5, 0.25, 0.125, 0, 0.5, 0.25, 0, 0.75, 0.25, 0.5, 0, 0.25});
  EXPECT_EQ(bare.log_probabilities.size(), 4u);
  const Trace rescaled = without_end(small_trace(), RowSums::rescaled_to_one);
  for (Index t = 0; t < 4; ++t)
    EXPECT_NEAR(rescaled.alignment.at({t, 0}) + rescaled.alignment.at({t, 1}) + rescaled.alignment.at({t, 2}), 1, 1e-6);
  // The second head's last row before the end lay on the end alone: a row of nothing stays one.
  EXPECT_EQ(rescaled.attentions.at(0).weights.at({1, 3, 2}), 0);
  // What has lost its end has none to lose.
  EXPECT_EQ(tokens(without_end(bare), "target"), tokens(bare, "target"));
}

TEST(WithoutEnd, OfNothingButTheEndIsNothing) {
  const TraceText end{"", {{"</s>", 0, 0, -1}}, {}};
  Trace trace = pair_trace(end, end);
  trace.alignment = Tensor(Shape{1, 1}, Real{1});
  trace.log_probabilities = {-1};
  const Trace bare = without_end(by_words(trace));
  EXPECT_TRUE(bare.axis("target").text.tokens.empty());
  EXPECT_FALSE(bare.alignment);
  EXPECT_EQ(hard_alignment(alignment_of(bare)), "");
}

TEST(ByWords, RegroupsEveryTextAndLeavesLabelsImagesAndSounds) {
  const Trace label = without_end(by_words(label_trace()), RowSums::rescaled_to_one);
  EXPECT_EQ(tokens(label, "document"), (std::vector<std::string>{"a", "fine", "film"}));
  EXPECT_EQ(tokens(label, "label"), std::vector<std::string>{"good"});  // no end, though it is of no word
  expect_weights(label.alignment, Shape{1, 3}, {1 / 13.0, 8 / 13.0, 4 / 13.0});
  expect_weights(label.attentions.at(0).weights, Shape{1, 1, 3}, {1 / 13.0, 8 / 13.0, 4 / 13.0});
  EXPECT_EQ(label.trust.at(0).entropy, std::vector<double>{1.3});
  EXPECT_EQ(label.choices.size(), 2u);

  const std::vector<Trace> traces = traces_of_version_2();
  const Trace entailment = without_end(by_words(traces.at(0)));
  EXPECT_EQ(tokens(entailment, "premise").size(), 6u);
  EXPECT_EQ(tokens(entailment, "hypothesis"), (std::vector<std::string>{"animals", "are", "outside"}));
  EXPECT_EQ(entailment.alignment.shape(), (Shape{3, 6}));
  EXPECT_EQ(entailment.attentions.at(0).weights.shape(), (Shape{1, 1, 6}));
  EXPECT_EQ(entailment.attentions.at(1).weights.shape(), (Shape{1, 3, 3}));
  EXPECT_EQ(entailment.trust.at(0).entropy, (std::vector<double>{0.8, 1.74, 1.46}));

  const Trace caption = without_end(by_words(traces.at(1)), RowSums::rescaled_to_one);
  EXPECT_EQ(caption.alignment.shape(), (Shape{5, 12}));
  EXPECT_EQ(caption.log_probabilities.size(), 5u);
  // Rows that lost no column stay as they are, whatever their sum.
  for (Index region = 0; region < 12; ++region)
    EXPECT_EQ(caption.alignment.at({1, region}), traces.at(1).alignment.at({1, region}));
}

TEST(JoinedFrames, AreSummedWhereTheyAreLookedAt) {
  const Trace sound = traces_of_version_2().at(2);
  const Trace joined = with_joined_frames(sound, 4);  // 2 to a frame
  EXPECT_EQ(joined.axis("sound").size(), 3);
  EXPECT_DOUBLE_EQ(joined.axis("sound").frames.step, 0.08);
  expect_weights(joined.alignment, Shape{3, 3}, {0.8, 0.15, 0.05, 0.05, 0.35, 0.6, 0, 0.2, 0.8});
  EXPECT_EQ(joined.log_probabilities.size(), 3u);
  EXPECT_EQ(with_joined_frames(sound, 6).axis("sound").size(), 6);
  EXPECT_EQ(message_of([&] { with_joined_frames(sound, 0); }), "[trace] frames cannot be joined to 0");
}

TEST(AlignmentOf, IsWhatTextFormsAreMadeFrom) {
  const WordAlignment alignment = alignment_of(without_end(by_words(small_trace())));
  EXPECT_EQ(hard_alignment(alignment), "0-0 1-1 1-2");
  EXPECT_EQ(soft_alignment(alignment), "0.5,0.375 0,0.75 0.25,0.625");
  EXPECT_FALSE(alignment_without_end(by_words(small_trace())).ends);
  Trace taught = small_trace();
  taught.unlinked_at_end = true;
  const WordAlignment ends = alignment_without_end(by_words(taught));
  EXPECT_EQ(soft_alignment(ends), soft_alignment(alignment));
  EXPECT_EQ(ends.target, alignment.target);
  expect_weights(ends.ends, Shape{3}, {0.125, 0.25, 0.125});
  EXPECT_EQ(hard_alignment(ends), "0-0 1-1 1-2");
  EXPECT_FALSE(alignment_without_end(without_end(taught)).ends);
  Trace blind = small_trace();
  blind.alignment = {};
  EXPECT_EQ(message_of([&] { alignment_of(blind); }),
            "[alignment] the model demo has no attention, so there is no alignment");
}

TEST(ByWords, SentencesEndBehindTheirLastWord) {
  Trace trace;
  TraceAxis document{.name = "document", .kind = Kind::document};
  document.text = {"so bad it",
                   {{"so", 0, 2, 0}, {"ba", 3, 5, 1}, {"d", 5, 6, 1}, {"it", 7, 9, 2}, {"</s>", 9, 9, -1}},
                   {{"so", 0, 2}, {"bad", 3, 6}, {"it", 7, 9}},
                   {3, 4}};
  trace.axes = {document};
  EXPECT_EQ(by_words(trace).axes[0].text.sentence_ends, (std::vector<Index>{2, 3}));
  EXPECT_EQ(without_end(by_words(trace)).axes[0].text.sentence_ends, (std::vector<Index>{2, 3}));
}

}  // namespace
}  // namespace heed::test
