#include "heed/explain/confusion_svg.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "heed/explain/svg_parts.h"
#include "support/messages.h"
#include "support/xml.h"

namespace heed::test {
namespace {

using Labels = std::vector<std::string>;

TEST(ConfusionSvg, HasARowForWhatIsRightAndAColumnForWhatWasGiven) {
  // Of four dogs three are seen, and one is taken for a <cat>; no dog is seen in the only cat.
  const std::string svg = draw_confusion_svg(
      pair_labels(Labels{"dog", "dog", "dog", "dog", "<cat>"}, Labels{"dog", "dog", "dog", "<cat>", "<cat>"}), "pets");
  EXPECT_EQ(times_in(svg, "<rect "), 4u + 11u);  // the cells, and the scale
  EXPECT_EQ(times_in(svg, "true dog, predicted dog: 3 of 4 (75.0 %)"), 1u);
  EXPECT_EQ(times_in(svg, "true dog, predicted &lt;cat&gt;: 1 of 4 (25.0 %)"), 1u);
  EXPECT_EQ(times_in(svg, "true &lt;cat&gt;, predicted dog: 0 of 1 (0.0 %)"), 1u);
  EXPECT_EQ(times_in(svg, fmt::format("fill=\"{}\"><title>true dog, predicted dog", weight_colour(.75))), 1u);
  EXPECT_EQ(times_in(svg, fmt::format("fill=\"{}\"><title>true dog, predicted &lt;cat", weight_colour(.25))), 1u);
  // Light cells have black numbers, dark ones white ones; a cell with nothing in it has none.
  EXPECT_EQ(times_in(svg, "style=\"fill:#000\">3</text>"), 1u);
  EXPECT_EQ(times_in(svg, "style=\"fill:#fff\">1</text>"), 1u);
  EXPECT_EQ(times_in(svg, ">0</text>"), 1u);  // of the scale
  EXPECT_EQ(times_in(svg, "<desc>&lt;cat&gt;: 1 of 1 right; dog: 3 of 4 right, 1 taken for &lt;cat&gt;</desc>"), 1u);
  EXPECT_EQ(times_in(svg, ">pets</text>"), 1u);
  EXPECT_EQ(
      times_in(svg, ">predicted</text>") + times_in(svg, ">true</text>") + times_in(svg, ">share of the row</text>"),
      3u);
}

TEST(ConfusionSvg, CellsAreAsWideAsTheirNumbersNeed) {
  const auto width_of_cells = [](std::size_t samples) {
    const Labels labels(samples, "x");
    const std::string svg = draw_confusion_svg(pair_labels(labels, labels));
    const std::size_t at = svg.find("width=\"", svg.find("<rect "));
    return std::stod(svg.substr(at + 7));
  };
  EXPECT_EQ(width_of_cells(9), 48);
  EXPECT_GT(width_of_cells(100'000), 12 * text_width("100000"));
}

TEST(ConfusionSvg, ALongLabelIsShortenedAndSaysAllOfIt) {
  const std::string longest = "a label that is much longer than its place in any picture";
  const std::string svg = draw_confusion_svg(pair_labels(Labels{longest, "b"}, Labels{"b", "c"}));
  EXPECT_EQ(times_in(svg, "<title>" + longest + "</title>a label that"), 2u);
  // What was given but is never right has a row without a share.
  EXPECT_EQ(times_in(svg, "true c, predicted c: 0 of 0 (0.0 %)"), 1u);
}

TEST(ConfusionSvg, WhatCannotBeReadIsAnError) {
  Labels many;
  for (int i = 0; i < 201; ++i) many.push_back(fmt::to_string(i));
  EXPECT_EQ(message_of([&] { draw_confusion_svg(pair_labels(many, many)); }),
            "[confusion] there are 201 labels; from 1 to 200 can be drawn");
  EXPECT_EQ(message_of([] { draw_confusion_svg({}); }), "[confusion] there are 0 labels; from 1 to 200 can be drawn");
}

}  // namespace
}  // namespace heed::test
