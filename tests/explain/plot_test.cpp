#include "heed/explain/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/messages.h"
#include "support/xml.h"

namespace heed::test {
namespace {

TEST(AxisTicks, AreRoundAndCoverTheRange) {
  EXPECT_EQ(axis_ticks(0, 30), (std::vector<double>{0, 5, 10, 15, 20, 25, 30}));
  EXPECT_EQ(axis_ticks(12, 37.5), (std::vector<double>{10, 15, 20, 25, 30, 35, 40}));
  for (const auto& [low, high] :
       {std::pair{1e-7, 3e-7}, {-5.0, 12.0}, {0.0, 1e9}, {4.0, 4.0}, {0.0, 0.0}, {7.1, 7.2}}) {
    const std::vector<double> ticks = axis_ticks(low, high);
    ASSERT_GE(ticks.size(), 2U);
    EXPECT_LE(ticks.size(), 7U);
    EXPECT_LE(ticks.front(), low + 1e-9 * std::abs(low));
    EXPECT_GE(ticks.back(), high - 1e-9 * std::abs(high));
  }
  EXPECT_EQ(axis_ticks(0, 0).front(), 0);  // scores that are all 0 are not drawn from -1
  EXPECT_NE(message_of([] { axis_ticks(2, 1); }).find("no axis from 2 to 1"), std::string::npos);
}

TEST(DrawSvg, PutsPointsWhereTheAxesSay) {
  const std::string svg =
      draw_svg({.title = "a < b & c", .x_label = "x", .y_label = "y", .series = {{"one", {{0, 0}, {5, 10}, {10, 5}}}}});
  EXPECT_EQ(times_in(svg, "a &lt; b &amp; c"), 2U);  // the title, and for those who listen
  EXPECT_EQ(times_in(svg, "<circle"), 4U);           // three points and the legend
  // The first point stands where the axes meet.
  EXPECT_EQ(times_in(svg, "M64.00 364.00L"), 1U);
  EXPECT_EQ(times_in(svg, "<path d=\"M64 44V364H"), 1U);
  EXPECT_EQ(times_in(svg, ">one</text>"), 1U);
}

TEST(DrawSvg, LeavesOutWhatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = draw_svg({.title = "loss",
                                    .x_label = "",
                                    .y_label = "",
                                    .series = {{"a", {{0, 1}, {1, nan}, {2, 3}, {3, 4}}}, {"b", {}}}});
  EXPECT_EQ(times_in(svg, "nan"), 0U);
  EXPECT_EQ(times_in(svg, "<circle"), 4U);
  EXPECT_EQ(message_of([nan] {
              draw_svg({.title = "loss", .x_label = "", .y_label = "", .series = {{"a", {{1, nan}}}}});
            }),
            "[plot] 'loss' has no point to draw");
}

}  // namespace
}  // namespace heed::test
