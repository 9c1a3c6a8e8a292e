#include "heed/data/word_links.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(WordLinks, AreReadInPharaohsFormat) {
  EXPECT_EQ(read_word_links("0-0 1-2\t12-1 "), (WordLinks{{0, 0}, {1, 2}, {12, 1}}));
  EXPECT_EQ(read_word_links(""), WordLinks{});
  for (const char* wrong : {"0", "0-", "-1", "0-1-2", "0:1", "-1-2", "1--2", "a-1", "99999999999-0", "0-0 x"})
    EXPECT_FALSE(read_word_links(wrong)) << wrong;
}

TEST(WordLinks, SpreadOverThePiecesOfTheirWords) {
  std::vector<Real> rows(3 * 4, Real{0});  // output words a a b, input words x x y and the end
  spread_links({{0, 0}, {1, 0}, {7, 1}, {1, 9}}, {0, 0, 1}, {0, 0, 1}, 4, rows.data());
  const Real third = Real{1} / 3;
  EXPECT_EQ(rows, (std::vector<Real>{third, third, third, 0, third, third, third, 0, 0, 0, 0, 0}));
}

TEST(WordLinks, WordsWithoutOneMayHaveAPlace) {
  std::vector<Real> rows(3 * 4, Real{0});
  spread_links({{0, 0}}, {0, 0, 1}, {0, 0, 1}, 4, rows.data(), 3);
  const Real half = Real{0.5F};
  EXPECT_EQ(rows, (std::vector<Real>{half, half, 0, 0, half, half, 0, 0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace heed
