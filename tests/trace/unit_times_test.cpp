#include "heed/trace/unit_times.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed::test {
namespace {

// Tokens of one letter each; a blank between words belongs to none.
TraceText letters(const std::string& text) {
  TraceText result{text, {}, {}};
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const bool blank = text[i] == ' ';
    if (!blank && !inside) result.words.push_back({"", at, at});
    inside = !blank;
    if (!blank) result.words.back().text += text[i], result.words.back().end = at + 1;
    result.tokens.push_back(
        {std::string(1, text[i]), at, at + 1, blank ? -1 : static_cast<Index>(result.words.size()) - 1});
  }
  result.tokens.push_back({"</s>", 0, 0, -1});
  return result;
}

// Rows with all their weight on one stretch each.
Tensor on(Index frames, const std::vector<std::pair<Index, Index>>& stretches) {
  Tensor weights(Shape{static_cast<Index>(stretches.size()), frames}, Real{0});
  for (std::size_t i = 0; i < stretches.size(); ++i)
    for (Index j = stretches[i].first; j < stretches[i].second; ++j)
      weights.data()[static_cast<Index>(i) * frames + j] =
          Real{1} / static_cast<Real>(stretches[i].second - stretches[i].first);
  return weights;
}

TEST(MonotonePath, SharesOutTheFrames) {
  EXPECT_EQ(monotone_path(on(10, {{0, 3}, {3, 7}, {7, 10}})), (std::vector<Index>{3, 7, 10}));
  // A row that looks back gets a frame of its own behind the others all the same.
  const std::vector<Index> ends = monotone_path(on(10, {{0, 3}, {5, 8}, {1, 2}}));
  EXPECT_GE(ends[0], 3);
  EXPECT_GT(ends[1], ends[0]);
  EXPECT_EQ(ends[2], 10);
  // More rows than frames: the last ones have nothing.
  EXPECT_EQ(monotone_path(on(2, {{0, 1}, {1, 2}, {1, 2}})), (std::vector<Index>{1, 2, 2}));
}

TEST(UnitTimes, OfWordsAreThoseOfTheirLetters) {
  const std::vector<double> logs{std::log(0.5), std::log(0.5), 0, std::log(0.9), 0};
  const auto [times, doubts] =
      unit_times(letters("ab c"), on(100, {{10, 20}, {24, 30}, {30, 34}, {60, 70}, {90, 95}}), {0.01}, logs);
  ASSERT_EQ(times.units.size(), 3u);
  ASSERT_EQ(times.words.size(), 2u);
  EXPECT_DOUBLE_EQ(times.seconds, 1);
  EXPECT_NEAR(times.units[0].begin, 0.05, 1e-9);  // a little into the silence before
  EXPECT_NEAR(times.units[0].end, 0.22, 1e-9);    // half-way to its neighbour
  EXPECT_NEAR(times.units[1].begin, 0.22, 1e-9);
  EXPECT_EQ(times.words[0].word, "ab");
  EXPECT_NEAR(times.words[0].begin, 0.05, 1e-9);
  EXPECT_NEAR(times.words[0].end, 0.35, 1e-9);
  EXPECT_NEAR(times.words[0].confidence, 0.5, 1e-9);
  EXPECT_NEAR(times.words[1].begin, 0.55, 1e-9);
  EXPECT_NEAR(times.words[1].confidence, 0.9, 1e-9);
  EXPECT_TRUE(doubts.empty());
}

TEST(UnitTimes, DoubtWhatWentBackOrPassedOver) {
  const auto doubts = [](const std::vector<std::pair<Index, Index>>& stretches) {
    return unit_times(letters("abc"), on(500, stretches), {0.01}, {}).doubts;
  };
  EXPECT_TRUE(doubts({{0, 150}, {150, 300}, {300, 450}}).empty());
  ASSERT_EQ(doubts({{0, 20}, {300, 310}, {440, 450}}).size(), 1u);
  EXPECT_NE(doubts({{0, 20}, {300, 310}, {440, 450}})[0].find("nothing was written of"), std::string::npos);
  bool back = false;
  for (const std::string& doubt : doubts({{0, 150}, {300, 450}, {10, 40}}))
    back |= doubt.find("looked back") != std::string::npos;
  EXPECT_TRUE(back);
}

TEST(UnitTimes, DoubtWhatStayedAtOnePlace) {
  const std::string text = "a lolololololololol b";
  std::vector<std::pair<Index, Index>> stretches;
  for (std::size_t i = 0; i < text.size(); ++i)
    stretches.emplace_back(i < 2 ? 0 : i < 19 ? 100 : 130, i < 2 ? 90 : i < 19 ? 130 : 140);
  const std::vector<std::string> doubts = unit_times(letters(text), on(200, stretches), {0.01}, {}).doubts;
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_NE(doubts[0].find("and may have repeated something"), std::string::npos);
  for (std::size_t i = 0; i < text.size(); ++i)
    stretches[i] = {static_cast<Index>(9 * i), static_cast<Index>(9 * i + 20)};  // fast, but one after another
  EXPECT_TRUE(unit_times(letters(text), on(200, stretches), {0.01}, {}).doubts.empty());
}

// Frames of 25 ms stand for the 10 ms around their middle.
TEST(UnitTimes, BeginWithTheMiddleOfAFrame) {
  const Transcript times =
      unit_times(letters("abc"), on(40, {{0, 10}, {12, 20}, {20, 40}}), {0.01, 0.0075}, {}).transcript;
  EXPECT_NEAR(times.seconds, 0.415, 1e-9);
  ASSERT_EQ(times.units.size(), 3U);
  EXPECT_NEAR(times.units[0].begin, 0, 1e-9);     // it reaches into the silence before, but not out of the sound
  EXPECT_NEAR(times.units[0].end, 0.1175, 1e-9);  // between 10 and 12 frames
  EXPECT_NEAR(times.units[1].end, 0.2075, 1e-9);
  EXPECT_NEAR(times.units[2].end, 0.415, 1e-9);
  // Steps that are longer than frames are cut at both ends of the sound.
  const Transcript sparse = unit_times(letters("ab"), on(4, {{0, 2}, {2, 4}}), {0.04, -0.01}, {}).transcript;
  EXPECT_NEAR(sparse.seconds, 0.14, 1e-9);
  EXPECT_NEAR(sparse.units[0].begin, 0, 1e-9);
  EXPECT_NEAR(sparse.units[0].end, 0.07, 1e-9);
  EXPECT_NEAR(sparse.units[1].end, 0.14, 1e-9);
}

TEST(UnitTimes, OfNothingAreNone) {
  const auto [times, doubts] = unit_times(letters(""), Tensor(Shape{1, 0}), {0.01}, {});
  EXPECT_TRUE(times.units.empty());
  EXPECT_TRUE(times.words.empty());
}

}  // namespace
}  // namespace heed::test
