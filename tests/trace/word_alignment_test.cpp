#include "heed/trace/word_alignment.h"

#include <gtest/gtest.h>

#include "support/messages.h"

namespace heed {
namespace {

// Words whose pieces are pairs of ids: 3 and 4 are one word, 5 and 6 another.
class Pieces final : public Vocabulary {
 public:
  std::vector<std::int32_t> encode(std::string_view) const override { return {}; }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) text += piece(id);
    return text;
  }
  std::vector<TextPlace> places(std::string_view) const override { return {}; }
  std::vector<TextPlace> decoded_places(std::span<const std::int32_t>) const override { return {}; }
  std::string piece(std::int32_t id) const override { return std::string(1, static_cast<char>('a' + id - 3)); }
  Index size() const override { return 9; }
  std::vector<Index> word_of(std::span<const std::int32_t> ids) const override {
    std::vector<Index> words;
    for (const std::int32_t id : ids) words.push_back((id - 3) / 2);
    return words;
  }
  std::string file_name(std::string_view) const override { return ""; }
  std::string serialized() const override { return ""; }
};

TEST(WordAlignment, SumsOverSourcePiecesAndAveragesOverTargetPieces) {
  const Pieces pieces;
  const std::vector<std::int32_t> source{3, 4, 5}, target{3, 5, 6};
  // Rows: three target pieces and the end; columns: three source pieces and the end.
  const Tensor weights(Shape{4, 4}, {Real{0.5F}, Real{0.25F}, Real{0.125F}, Real{0.125F},  //
                                     0, 0, Real{0.5F}, Real{0.5F},                         //
                                     Real{0.5F}, Real{0.5F}, 0, 0,                         //
                                     0, 0, 0, 1});
  const WordAlignment aligned = align_words(pieces, source, pieces, target, weights);
  EXPECT_EQ(aligned.source, (std::vector<std::string>{"ab", "c"}));
  EXPECT_EQ(aligned.target, (std::vector<std::string>{"a", "cd"}));
  ASSERT_TRUE((aligned.weights.shape() == Shape{2, 2}));
  EXPECT_EQ(aligned.weights.at({0, 0}), Real{0.75F});
  EXPECT_EQ(aligned.weights.at({0, 1}), Real{0.125F});
  EXPECT_EQ(aligned.weights.at({1, 0}), Real{0.5F});
  EXPECT_EQ(aligned.weights.at({1, 1}), Real{0.25F});
  EXPECT_EQ(hard_alignment(aligned), "0-0 0-1");
  EXPECT_EQ(soft_alignment(aligned), "0.75,0.125 0.5,0.25");
}

TEST(WordAlignment, AWordThatLooksAtTheEndMostHasNoLink) {
  const Pieces pieces;
  const std::vector<std::int32_t> source{3, 4, 5}, target{3, 5, 6};
  // The second word's two pieces put 0.5 and 0.4 on the end, and at most 0.4 and 0.3 on one word.
  const Tensor weights(Shape{4, 4}, {Real{0.2F}, Real{0.3F}, Real{0.1F}, Real{0.4F},  //
                                     Real{0.3F}, Real{0.1F}, Real{0.1F}, Real{0.5F},  //
                                     Real{0.2F}, Real{0.1F}, Real{0.3F}, Real{0.4F},  //
                                     0, 0, 0, 1});
  EXPECT_EQ(hard_alignment(align_words(pieces, source, pieces, target, weights)), "0-0 0-1");
  const WordAlignment aligned = align_words(pieces, source, pieces, target, weights, true);
  ASSERT_TRUE((aligned.ends.shape() == Shape{2}));
  EXPECT_EQ(aligned.ends.at({0}), Real{0.4F});
  EXPECT_NEAR(aligned.ends.at({1}), 0.45, 1e-6);
  EXPECT_EQ(hard_alignment(aligned), "0-0");
}

TEST(WordAlignment, RefusesWeightsOfOtherSentences) {
  const Pieces pieces;
  const std::vector<std::int32_t> ids{3, 4};
  EXPECT_EQ(test::message_of([&] {
              align_words(pieces, ids, pieces, ids, Tensor(Shape{2, 3}, Real{0}));
            }),
            "[alignment] weights [2, 3] are not those of 2 and 2 pieces");
}

TEST(WordAlignment, ATranslationWithoutWordsHasNone) {
  const Pieces pieces;
  const std::vector<std::int32_t> source{3, 4}, none;
  const WordAlignment aligned = align_words(pieces, source, pieces, none, Tensor(Shape{1, 3}, Real{0}));
  EXPECT_EQ(hard_alignment(aligned), "");
  EXPECT_EQ(soft_alignment(aligned), "");
}

}  // namespace
}  // namespace heed
