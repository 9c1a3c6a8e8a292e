#include "heed/base/spelling.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

TEST(Spelling, DistanceCountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2);
  EXPECT_EQ(edit_distance("same", "same"), 0);
  EXPECT_EQ(edit_distance("ab", "ba"), 2);
}

const std::vector<std::string> kKnown = {"additive", "dot", "scaled-dot"};

TEST(Spelling, SaysTheNearestIfItIsNear) {
  EXPECT_EQ(did_you_mean("additve", kKnown), "; did you mean additive?");
  EXPECT_EQ(did_you_mean("dott", kKnown), "; did you mean dot?");
  EXPECT_EQ(did_you_mean("scaleddot", kKnown), "; did you mean scaled-dot?");
}

TEST(Spelling, ListsAllIfNoneIsNear) {
  EXPECT_EQ(did_you_mean("zzzzzz", kKnown), "; there are: additive, dot, scaled-dot");
  EXPECT_EQ(did_you_mean("", kKnown), "; there are: additive, dot, scaled-dot");
}

TEST(Spelling, OfManyTheNearestAreSaid) {
  std::vector<std::string> many(30, "a-name-far-away");
  many.insert(many.end(), {"xxxxxxxx", "zzxxxxxx", "zxxxxxxx"});
  EXPECT_EQ(did_you_mean("zzzzzz", many), "; the nearest are: zzxxxxxx, zxxxxxxx, xxxxxxxx");
}

TEST(Spelling, OfTwoAsNearTheFirstIsSaid) {
  const std::vector<std::string> known = {"cat", "car"};
  EXPECT_EQ(did_you_mean("cab", known), "; did you mean cat?");
}

TEST(Spelling, KnowsWhenThereIsNothing) {
  EXPECT_EQ(did_you_mean("dot", std::vector<std::string>{}), "; there are none");
}

}  // namespace
}  // namespace heed
