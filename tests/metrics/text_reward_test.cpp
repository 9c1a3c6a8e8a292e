#include "heed/metrics/text_reward.h"

#include <gtest/gtest.h>

#include "support/messages.h"

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

const std::vector<Texts> kTraining{{"A man in a hat .", "A man wears a hat ."},
                                   {"A dog runs on the grass .", "The dog is running ."},
                                   {"Two children play in the sand .", "Kids at a beach ."}};

double reward(const Texts& names, const std::string& text, const Texts& references) {
  return (*text_reward_of(names, kTraining))(text, references);
}

TEST(TextReward, CiderLikesWholeCaptions) {
  for (const char* name : {"cider", "cider-d"}) {
    const auto of = [&](const std::string& text) { return reward({name}, text, {"A man in a hat ."}); };
    const double whole = of("a man in a hat .");
    EXPECT_NEAR(whole, 10, 1e-9) << name;  // the same n-grams, whatever their letters
    EXPECT_LT(of("a man in a"), whole) << name;
    EXPECT_LT(of("a man in a hat . . . ."), whole) << name;
    EXPECT_LT(of("a dog runs ."), of("a man in a")) << name;
    EXPECT_EQ(of("two trees"), 0) << name;
  }
}

// Whoever stops short lacks the n-grams of the end: "in a </s>" is in no reference.
TEST(TextReward, TheEndIsAWord) {
  const Texts references{"x y z w"};
  EXPECT_LT(reward({"bleu"}, "x y z w v", references), 1);
  const double bigram = reward({"bleu"}, "y z", references), stops = reward({"bleu"}, "z w", references);
  EXPECT_LT(bigram, stops);  // both have two words of four, but only the second ends as the reference does
}

TEST(TextReward, BleuOfOneTextIsSmoothed) {
  const Texts references{"the cat sat on the mat"};
  EXPECT_NEAR(reward({"bleu"}, "the cat sat on the mat", references), 1, 1e-9);
  const double few = reward({"bleu"}, "the dog sat near the mat", references);
  EXPECT_GT(few, 0);  // not one 4-gram is right
  EXPECT_LT(few, 1);
  EXPECT_LT(reward({"bleu"}, "The Cat Sat", references), reward({"bleu4"}, "The Cat Sat", references));
}

TEST(TextReward, ErrorsAreNegative) {
  EXPECT_NEAR(reward({"wer"}, "a b x d", {"a b c d"}), -0.25, 1e-9);
  EXPECT_EQ(reward({"wer"}, "a b c d", {"a b c d"}), 0);
}

TEST(TextReward, SeveralAddUp) {
  const Texts references{"A man in a hat ."};
  const std::string text = "a man in the hat .";
  EXPECT_NEAR(reward({"cider-d", "bleu4"}, text, references),
              reward({"cider-d"}, text, references) + reward({"bleu4"}, text, references), 1e-12);
}

TEST(TextReward, UnknownNamesAreErrors) {
  EXPECT_EQ(message_of([] { reward({"cidr-d"}, "a", {"a"}); }),
            "[metrics] there is no metric cidr-d; did you mean cider-d?");
}

}  // namespace
}  // namespace heed::test
