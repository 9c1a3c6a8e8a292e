#include "heed/tensor/shape.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/messages.h"

namespace heed::test {
namespace {

constexpr Index kHuge = Index{1} << 60;

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ(Shape{}.rank(), 0);
  EXPECT_EQ((Shape{2, 3, 4}.size()), 24);
  EXPECT_EQ((Shape{2, 0, 4}.size()), 0);
  EXPECT_EQ(fmt::format("{}", Shape{2, 3}), "[2, 3]");
  EXPECT_EQ(fmt::format("{}", Shape{}), "[]");
}

TEST(Shape, NegativeAxesCountFromTheEnd) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape[-3], 2);
  EXPECT_EQ(shape.axis(-2, "op"), 1);
  EXPECT_EQ(shape.with(-1, 7), (Shape{2, 3, 7}));
  EXPECT_EQ(shape.without(-2), (Shape{2, 4}));
  EXPECT_EQ(shape.append(5), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(shape.leading(2), (Shape{2, 3}));
}

TEST(Shape, EqualityLooksAtRankAndSizes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3} == Shape{3, 2}));
  EXPECT_FALSE((Shape{2, 3} == Shape{2, 3, 1}));
  EXPECT_FALSE((Shape{2, 3, 1} == Shape{2, 3}));
  EXPECT_FALSE((Shape{} == Shape{0}));
}

TEST(Shape, AbsurdSizesAreErrorsWithTheNumbers) {
  EXPECT_EQ(message_of([] { Shape{2, -3}; }), "[shape] negative size -3 in [2, -3]");
  EXPECT_EQ(message_of([] { Shape{kHuge}; }), "[shape] the number of elements of [1152921504606846976] overflows");
  EXPECT_EQ(message_of([] {
              Shape{kHuge, 1024};
            }),
            "[shape] the number of elements of [1152921504606846976, 1024] overflows");
  EXPECT_EQ(message_of([] {
              Shape{Index{1} << 32, Index{1} << 32};
            }),
            "[shape] the number of elements of [4294967296, 4294967296] overflows");
  EXPECT_EQ(message_of([] { Shape{std::numeric_limits<Index>::min()}; }),
            "[shape] negative size -9223372036854775808 in [-9223372036854775808]");
  EXPECT_EQ(message_of([] { Shape{1, 1, 1, 1, 1, 1, 1}; }), "[shape] at most 6 axes are supported, not 7");
  EXPECT_EQ(message_of([] { Shape{1, 1, 1, 1, 1, 1}.append(1); }), "[shape] at most 6 axes are supported");
  EXPECT_EQ(message_of([] { Shape{2, 3}.with(0, -1); }), "[shape] negative size -1 in [-1, 3]");
  EXPECT_EQ(message_of([] { Shape{2, 3}.axis(2, "sum"); }), "[sum] axis 2 does not exist in shape [2, 3]");
  EXPECT_EQ(message_of([] { Shape{2, 3}.axis(-3, "sum"); }), "[sum] axis -3 does not exist in shape [2, 3]");
}

TEST(Shape, BroadcastNamesBothShapes) {
  EXPECT_EQ(broadcast(Shape{2, 1, 3}, Shape{4, 1}, "add"), (Shape{2, 4, 3}));
  EXPECT_EQ(broadcast(Shape{1}, Shape{0}, "add"), (Shape{0}));
  EXPECT_EQ(message_of([] {
              broadcast(Shape{2, 3}, Shape{4, 3}, "add");
            }),
            "[add] shapes [2, 3] and [4, 3] do not broadcast: 2 against 4");
  EXPECT_EQ(message_of([] { broadcast(Shape{0}, Shape{2}, "add"); }),
            "[add] shapes [0] and [2] do not broadcast: 0 against 2");
}

}  // namespace
}  // namespace heed::test
