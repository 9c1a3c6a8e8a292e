#include "heed/align/join.h"

#include <gtest/gtest.h>

#include "support/messages.h"

namespace heed {
namespace {

using Words = std::vector<std::int32_t>;

TEST(JoinedLinks, OfBothOfEitherAndOfOneDirection) {
  const Words forward{0, 1, 1, -1}, backward{0, 2, 3};  // four target words, three source words
  EXPECT_EQ(joined(forward, backward, Join::forward), (WordLinks{{0, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(joined(forward, backward, Join::backward), (WordLinks{{0, 0}, {1, 2}, {2, 3}}));
  EXPECT_EQ(joined(forward, backward, Join::intersection), (WordLinks{{0, 0}, {1, 2}}));
  EXPECT_EQ(joined(forward, backward, Join::union_of_both), (WordLinks{{0, 0}, {1, 1}, {1, 2}, {2, 3}}));
}

// Worked by hand. Both agree on 0-0. 1-1 is diagonal to it and links two words without a link; then 1-2, below it, has
// a new target word; 1-3 is next to that. 4-4 is next to none of them.
TEST(JoinedLinks, GrowFromLinkToLink) {
  const Words forward{0, 1, 1, 1, -1}, backward{0, -1, -1, -1, 4};
  EXPECT_EQ(joined(forward, backward, Join::intersection), (WordLinks{{0, 0}}));
  EXPECT_EQ(joined(forward, backward, Join::grow_diag), (WordLinks{{0, 0}, {1, 1}, {1, 2}, {1, 3}}));
  EXPECT_EQ(joined(forward, backward, Join::grow_diag_final_and), (WordLinks{{0, 0}, {1, 1}, {1, 2}, {1, 3}, {4, 4}}));
}

// A neighbour of which both words are linked already is not taken: 1-0 here, since 0-0 and 1-1 are there.
TEST(JoinedLinks, DoNotGrowBetweenLinkedWords) {
  const Words forward{0, 1}, backward{0, 1};
  EXPECT_EQ(joined(forward, backward, Join::grow_diag_final_and), (WordLinks{{0, 0}, {1, 1}}));
  const Words more_forward{1, 1}, more_backward{0, 1};  // 1-0 and 1-1; 0-0 and 1-1
  EXPECT_EQ(joined(more_forward, more_backward, Join::union_of_both), (WordLinks{{0, 0}, {1, 0}, {1, 1}}));
  // From 1-1 its neighbours are looked at in order: (target 0, source 1) comes before the diagonal 0-0 and links target
  // 0; 0-0 is taken too, as source 0 has no link yet.
  EXPECT_EQ(joined(more_forward, more_backward, Join::grow_diag), (WordLinks{{0, 0}, {1, 0}, {1, 1}}));
}

// In the last step a link is taken only if neither word has one: 3-3 of the forward direction first, so that 3-4 of the
// backward one is too late; 5-0 has a target word that is linked.
TEST(JoinedLinks, LastComeWordsWithoutAnyLink) {
  const Words forward{0, -1, -1, 3, -1, -1}, backward{0, -1, -1, 4, -1, 0};
  EXPECT_EQ(joined(forward, backward, Join::grow_diag), (WordLinks{{0, 0}}));
  EXPECT_EQ(joined(forward, backward, Join::grow_diag_final_and), (WordLinks{{0, 0}, {3, 3}}));
}

TEST(JoinedLinks, OfEmptySentencesAreNone) {
  for (const std::string& name : join_names()) EXPECT_EQ(joined({}, {}, join_named(name)), WordLinks{}) << name;
}

TEST(JoinedLinks, AreJoinedByName) {
  EXPECT_EQ(join_names().size(), 6U);
  EXPECT_EQ(join_named("grow-diag-final-and"), Join::grow_diag_final_and);
  EXPECT_EQ(join_named("union"), Join::union_of_both);
  EXPECT_NE(test::message_of([] { join_named("grow-dia"); }).find("did you mean grow-diag?"), std::string::npos);
}

}  // namespace
}  // namespace heed
