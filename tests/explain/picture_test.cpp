#include <gtest/gtest.h>

#include <algorithm>

#include "heed/explain/svg.h"
#include "heed/explain/terminal.h"
#include "heed/trace/merge.h"
#include "support/messages.h"
#include "support/xml.h"
#include "trace/small_trace.h"

namespace heed::test {
namespace {

Index count(const std::vector<XmlElement>& elements, const std::string& name) {
  return std::ranges::count(elements, name, &XmlElement::name);
}

bool writes(const std::vector<XmlElement>& elements, const std::string& text) {
  return std::ranges::any_of(elements,
                             [&](const XmlElement& each) { return each.name == "text" && each.text == text; });
}

Trace in_words(const Trace& trace) { return without_end(by_words(trace)); }

TEST(Picture, OfTwoTextsIsTheirMatrix) {
  const Trace trace = in_words(small_trace());
  EXPECT_EQ(draw_svg(trace, "t"), draw_alignment_svg(trace, "t"));
  EXPECT_EQ(draw_terminal(trace, TerminalColour::none),
            "        c\n"
            "      t a\n"
            "      h t\n"
            "      e s\n"
            "   le ++--\n"
            "   猫   ##\n"
            "chats ::**\n");
}

TEST(Picture, OfALabelIsTheTextThatItWasChosenBy) {
  const Trace trace = in_words(label_trace());
  const std::vector<XmlElement> elements = read_xml(draw_svg(trace));
  EXPECT_TRUE(writes(elements, "good 0.88"));
  EXPECT_TRUE(writes(elements, "fine"));
  EXPECT_TRUE(writes(elements, "0.5"));  // the scale goes up to the largest weight
  EXPECT_EQ(draw_terminal(trace, TerminalColour::none),
            "good 0.88\n"
            "a fine film\n"
            ". @@@@ ++++\n");
  EXPECT_EQ(draw_terminal(trace, TerminalColour::palette),
            "good 0.88\n"
            "\x1b[48;5;235m\x1b[97ma\x1b[0m \x1b[48;5;255m\x1b[30mfine\x1b[0m \x1b[48;5;244m\x1b[97mfilm\x1b[0m\n");
}

TEST(Picture, OfWordsAndAnImageIsItsRegions) {
  const Trace trace = in_words(traces_of_version_2().at(1));
  const std::vector<XmlElement> elements = read_xml(draw_svg(trace));
  EXPECT_EQ(count(elements, "image"), 1);
  EXPECT_EQ(count(elements, "use"), 5);
  EXPECT_EQ(count(elements, "rect"), 5 * 12);
  EXPECT_TRUE(writes(elements, "ball"));
  const std::string text = draw_terminal(trace, TerminalColour::none);
  EXPECT_TRUE(text.starts_with("a         red       ball      on        grass\n")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  EXPECT_NE(text.find("@@"), std::string::npos);
}

TEST(Picture, OfWordsAndASoundHasTheTimeBelow) {
  const Trace trace = in_words(traces_of_version_2().at(2));
  const std::vector<XmlElement> elements = read_xml(draw_svg(trace));
  EXPECT_TRUE(writes(elements, "0.2 s"));
  EXPECT_TRUE(writes(elements, "one"));
  EXPECT_FALSE(writes(elements, "0.04 s"));  // a frame
  EXPECT_EQ(draw_terminal(trace, TerminalColour::none),
            "one ####::....\n"
            "two   ....++@@::\n"
            "    0 s  0.1 s\n");
}

TEST(Picture, OfASoundHasItsWaveformAndWhatWasSaidAboveTheWeights) {
  Trace trace = in_words(traces_of_version_2().at(2));
  const auto height = [](const std::string& svg) { return std::stod(read_xml(svg)[0].attributes.at("height")); };
  const auto writings = [](const std::string& svg, const std::string& name) {
    return std::ranges::count_if(read_xml(svg), [&](const XmlElement& each) { return each.text == name; });
  };
  const std::string plain = draw_svg(trace);
  EXPECT_EQ(writings(plain, "one"), 2);  // its row, and when it was said
  trace.axis("sound").waveform = {0, 0.25, 0.5, 0};
  const std::string svg = draw_svg(trace);
  EXPECT_GT(height(svg), height(plain) + 20);
  const std::vector<XmlElement> elements = read_xml(svg);
  const auto wave = std::ranges::find_if(elements, [](const XmlElement& each) {
    return each.name == "path" && each.attributes.contains("fill") && each.attributes.at("fill") == "#0072B2";
  });
  ASSERT_NE(wave, elements.end());
  EXPECT_EQ(std::ranges::count(wave->attributes.at("d"), 'H'), 8);  // above and below, of each of the four

  Trace letters = traces_of_version_2().at(2);  // pieces stand below the words that they make
  letters.axes.back().text.tokens.insert(letters.axes.back().text.tokens.begin(),
                                         {.text = "on", .begin = 0, .end = 2, .word = 0});
  letters.alignment = Tensor(Shape{letters.row_axis().size(), 6}, Real{1} / 6);
  EXPECT_GT(height(draw_svg(letters)), height(plain) + 22);
}

TEST(Picture, OfALongSoundJoinsItsFrames) {
  Trace trace = traces_of_version_2().at(2);
  trace.axis("sound").rows = 3000;
  trace.alignment = Tensor(Shape{3, 3000}, Real{1} / 3000);
  const std::string svg = draw_svg(trace);
  EXPECT_LT(count(read_xml(svg), "rect"), 3 * 400 + 20);
  const std::string text = draw_terminal(trace, TerminalColour::none);
  EXPECT_LE(text.find('\n'), 110U);
  EXPECT_NE(text.find("100 s"), std::string::npos) << text;
}

TEST(Picture, OfOtherAxesIsAMatrixOfTheirPlaces) {
  Trace trace = traces_of_version_2().at(1);
  trace.rows = "image", trace.alignment = Tensor(Shape{12, 12}, Real{0.25F});
  EXPECT_TRUE(writes(read_xml(draw_svg(trace)), "2,3"));
  EXPECT_NE(draw_terminal(trace, TerminalColour::none).find("3,4 "), std::string::npos);
}

TEST(Picture, LinesAreDrawnBetweenAnyAxes) {
  const Trace trace = traces_of_version_2().at(0);
  EXPECT_TRUE(writes(read_xml(draw_lines_svg(trace)), "▁animals"));
  const std::vector<XmlElement> elements = read_xml(draw_lines_svg(trace, "reader.premise"));
  EXPECT_TRUE(writes(elements, "entailment"));
  EXPECT_TRUE(writes(elements, "▁dogs"));
  EXPECT_FALSE(writes(elements, "▁animals"));
}

TEST(Picture, WithoutAlignmentThereIsNone) {
  Trace trace = small_trace();
  trace.alignment = {};
  EXPECT_EQ(message_of([&] { draw_svg(trace); }), "[explain] the trace has no alignment to draw");
  EXPECT_EQ(message_of([&] { draw_terminal(trace, TerminalColour::none); }),
            "[explain] the trace has no alignment to draw");
}

TEST(Picture, SizeOfAMatrixIsKnownBeforeItIsDrawn) {
  const Trace trace = small_trace();
  const PictureSize size = least_size(trace);
  const XmlElement drawn = read_xml(draw_svg(trace))[0];
  EXPECT_EQ(size.width, 4 * 22);
  EXPECT_LE(size.width, std::stod(drawn.attributes.at("width")));
  EXPECT_LE(size.height, std::stod(drawn.attributes.at("height")));
  EXPECT_EQ(least_size(label_trace()).width, 0);
}

}  // namespace
}  // namespace heed::test
