#include "heed/trace/merge.h"

#include <gtest/gtest.h>

#include "trace/small_trace.h"
#include "support/messages.h"

namespace heed::test {
namespace {

std::vector<std::string> tokens(const TraceText& text) {
  std::vector<std::string> list;
  for (const TraceToken& token : text.tokens) list.push_back(token.text);
  return list;
}

void expect_weights(const Tensor& weights, const Shape& shape, const std::vector<double>& expected) {
  ASSERT_EQ(weights.shape(), shape);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(weights.contiguous().data()[i], expected[i], 1e-6) << i;
}

TEST(ByWords, SumsWhatIsLookedAtAndAveragesWhatLooks) {
  const Trace words = by_words(small_trace());
  EXPECT_EQ(tokens(words.source), (std::vector<std::string>{"the", "cats", "</s>"}));
  EXPECT_EQ(tokens(words.target), (std::vector<std::string>{"le", "猫", "chats", "</s>"}));
  EXPECT_EQ(words.source.tokens[1].begin, 4);
  EXPECT_EQ(words.source.tokens[1].end, 8);
  EXPECT_EQ(words.target.tokens[2].word, 2);
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
  EXPECT_EQ(tokens(once.target), tokens(twice.target));
  expect_weights(twice.alignment, once.alignment.shape(),
                 {once.alignment.data(), once.alignment.data() + once.alignment.size()});
}

TEST(WithoutEnd, LeavesRowsAsTheyAreOrRescalesThem) {
  const Trace bare = without_end(small_trace());
  EXPECT_EQ(tokens(bare.source), (std::vector<std::string>{"▁the", "▁cat", "s"}));
  EXPECT_EQ(tokens(bare.target), (std::vector<std::string>{"▁le", "▁猫", "▁ch", "ats"}));
  expect_weights(bare.alignment, Shape{4, 3}, {0.5, 0.25, 0.125, 0, 0.5, 0.25, 0, 0.75, 0.25, 0.5, 0, 0.25});
  EXPECT_EQ(bare.log_probabilities.size(), 4u);
  const Trace rescaled = without_end(small_trace(), RowSums::rescaled_to_one);
  for (Index t = 0; t < 4; ++t)
    EXPECT_NEAR(rescaled.alignment.at({t, 0}) + rescaled.alignment.at({t, 1}) + rescaled.alignment.at({t, 2}), 1, 1e-6);
  // The second head's last row before the end lay on the end alone: a row of nothing stays one.
  EXPECT_EQ(rescaled.attentions.at(0).weights.at({1, 3, 2}), 0);
  // What has lost its end has none to lose.
  EXPECT_EQ(tokens(without_end(bare).target), tokens(bare.target));
}

TEST(WithoutEnd, OfNothingButTheEndIsNothing) {
  Trace trace;
  trace.source = trace.target = {"", {{"</s>", 0, 0, -1}}, {}};
  trace.alignment = Tensor(Shape{1, 1}, Real{1});
  trace.log_probabilities = {-1};
  const Trace bare = without_end(by_words(trace));
  EXPECT_TRUE(bare.target.tokens.empty());
  EXPECT_FALSE(bare.alignment);
  EXPECT_EQ(hard_alignment(alignment_of(bare)), "");
}

TEST(AlignmentOf, IsWhatTextFormsAreMadeFrom) {
  const WordAlignment alignment = alignment_of(without_end(by_words(small_trace())));
  EXPECT_EQ(hard_alignment(alignment), "0-0 1-1 1-2");
  EXPECT_EQ(soft_alignment(alignment), "0.5,0.375 0,0.75 0.25,0.625");
  Trace blind = small_trace();
  blind.alignment = {};
  EXPECT_EQ(message_of([&] { alignment_of(blind); }),
            "[alignment] the model demo has no attention, so there is no alignment");
}

}  // namespace
}  // namespace heed::test
