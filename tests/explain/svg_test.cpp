#include "heed/explain/svg.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/file.h"
#include "heed/data/images/image.h"
#include "heed/explain/svg_parts.h"
#include "support/messages.h"
#include "support/xml.h"

namespace heed::test {
namespace {

MatrixPicture small_matrix() { return {"", {"le", "chat"}, {"the", "cat"}, Tensor(Shape{2, 2}, {0.75F, 0.25F, 0, 1})}; }

std::vector<XmlElement> named(const std::vector<XmlElement>& elements, const std::string& name) {
  std::vector<XmlElement> found;
  std::copy_if(elements.begin(), elements.end(), std::back_inserter(found),
               [&](const XmlElement& element) { return element.name == name; });
  return found;
}

std::vector<std::string> tips(const std::vector<XmlElement>& elements, const std::string& owner) {
  std::vector<std::string> found;
  for (const XmlElement& element : elements)
    if (element.name == "title" && element.inside.back() == owner) found.push_back(element.text);
  return found;
}

Trace some_trace() {
  Trace trace = pair_trace({"the cat", {{"the", 0, 3, 0}, {"cat", 4, 7, 1}, {"</s>", 7, 7, -1}}, {}},
                           {"le chat", {{"le", 0, 2, 0}, {"chat", 3, 7, 1}}, {}});
  trace.alignment = Tensor(Shape{2, 3}, {0.75F, 0.125F, 0.125F, 0, 1, 0});
  trace.attentions.push_back({"encoder.layer1.self", 1, "source", "source",
                              Tensor(Shape{2, 3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0.5F, 0.5F, 0})});
  return trace;
}

// The whole file, as it was looked at and found good.
TEST(MatrixSvg, IsItsGoldenFile) {
  EXPECT_EQ(draw_matrix_svg(small_matrix()), read_file(HEED_SOURCE_DIR "/tests/explain/data/matrix.svg"));
}

TEST(MatrixSvg, HasACellForEveryWeight) {
  const std::vector<XmlElement> elements = read_xml(draw_matrix_svg(small_matrix()));
  EXPECT_EQ(tips(elements, "rect"),
            (std::vector<std::string>{"the → le: 0.750", "cat → le: 0.250", "the → chat: 0.000", "cat → chat: 1.000"}));
  const std::vector<XmlElement> cells = named(elements, "rect");
  EXPECT_EQ(cells[0].attributes.at("fill"), weight_colour(0.75));
  EXPECT_EQ(cells[3].attributes.at("fill"), weight_colour(1));
  EXPECT_EQ(cells[0].attributes.at("x"), cells[2].attributes.at("x"));
  EXPECT_EQ(cells[0].attributes.at("y"), cells[1].attributes.at("y"));
  EXPECT_EQ(named(elements, "desc")[0].text, "le looks most at the (0.75); chat looks most at cat (1.00)");
}

TEST(MatrixSvg, NarrowLabelsStandUprightAndOthersSlant) {
  const auto slanted = [](std::vector<std::string> columns) {
    const auto m = static_cast<Index>(columns.size());
    return draw_matrix_svg({"", {"x"}, std::move(columns), Tensor(Shape{1, m}, Real{0})}).find("rotate(-45)") !=
           std::string::npos;
  };
  EXPECT_FALSE(slanted({"我", "是", "a"}));
  EXPECT_TRUE(slanted({"我", "是", "words"}));
}

TEST(MatrixSvg, LongWordsAreShortenedAndSayTheirWhole) {
  const std::string word(60, 'w');
  const std::vector<XmlElement> elements = read_xml(draw_matrix_svg({"", {word}, {"x"}, Tensor(Shape{1, 1}, Real{1})}));
  EXPECT_EQ(tips(elements, "text"), (std::vector<std::string>{word}));
  const std::vector<XmlElement> texts = named(elements, "text");
  const auto label = std::find_if(texts.begin(), texts.end(), [](const auto& t) { return t.text.starts_with("w"); });
  ASSERT_NE(label, texts.end());
  EXPECT_TRUE(label->text.ends_with("…"));
  EXPECT_LT(label->text.size(), 20U);
}

TEST(MatrixSvg, ShowsMarkupAndNeverRunsIt) {
  const std::string evil = "</text><script>alert(\"1\")</script>&amp;";
  const std::string broken = "a\x01\xFF\xC3z\xEF\xBF\xBF\n";
  for (const std::string& svg : {draw_matrix_svg({evil, {evil}, {broken}, Tensor(Shape{1, 1}, Real{1})}),
                                 draw_lines_svg({evil, {evil}, {broken}, Tensor(Shape{1, 1, 1}, Real{1})})}) {
    const std::vector<XmlElement> elements = read_xml(svg);
    EXPECT_TRUE(named(elements, "script").empty());
    EXPECT_EQ(elements[0].attributes.at("aria-label"), evil);
    const std::vector<XmlElement> texts = named(elements, "text");
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [&](const auto& text) { return text.text == evil; }));
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [](const auto& text) { return text.text == "a ��z� "; }));
  }
}

RC_GTEST_PROP(MatrixSvg, EverythingStaysInsideThePicture, ()) {
  const auto words = [] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 30);
    return *rc::gen::container<std::vector<std::string>>(count, rc::gen::string<std::string>());
  };
  const std::vector<std::string> rows = words(), columns = words();
  const auto n = static_cast<Index>(rows.size()), m = static_cast<Index>(columns.size());
  const std::vector<XmlElement> elements =
      read_xml(draw_matrix_svg({"", rows, columns, Tensor(Shape{n, m}, Real{0.5F})}));
  const double width = std::stod(elements[0].attributes.at("width"));
  const double height = std::stod(elements[0].attributes.at("height"));
  for (const XmlElement& cell : named(elements, "rect")) {
    const auto number = [&](const char* name) { return std::stod(cell.attributes.at(name)); };
    RC_ASSERT(number("x") >= 0 && number("x") + number("width") <= width);
    RC_ASSERT(number("y") >= 0 && number("y") + number("height") <= height);
  }
  RC_ASSERT(tips(elements, "rect").size() == static_cast<std::size_t>(n * m));
}

TEST(MatrixSvg, ErrorsSayWhatDoesNotFit) {
  EXPECT_EQ(message_of([] {
              draw_matrix_svg({"", {"a"}, {"b"}, Tensor(Shape{1, 2}, Real{0})});
            }),
            "[svg] weights [1, 2] do not fit 1 rows and 1 columns");
  EXPECT_EQ(message_of([] {
              draw_matrix_svg({"", {}, {"b"}, Tensor(Shape{0, 1}, Real{0})});
            }),
            "[svg] there is nothing to draw: 0 rows and 1 columns");
  EXPECT_EQ(message_of([] { draw_alignment_svg(Trace{}); }), "[svg] the trace has no alignment to draw");
  EXPECT_EQ(message_of([] { draw_lines_svg(some_trace(), "encoder.layer2.self"); }),
            "[svg] the trace has no attention encoder.layer2.self; did you mean encoder.layer1.self?");
}

TEST(LinesSvg, DrawsTheHeavyWeightsOfEveryHead) {
  const Tensor weights(Shape{2, 2, 2}, {0.75F, 0.04F, 0, 1, 0.5F, 0.5F, 0.05F, 0});
  const std::vector<XmlElement> elements = read_xml(draw_lines_svg({"", {"le", "chat"}, {"the", "cat"}, weights}));
  EXPECT_EQ(tips(elements, "path"),
            (std::vector<std::string>{"head 2: the → chat: 0.050", "head 2: the → le: 0.500", "head 2: cat → le: 0.500",
                                      "head 1: the → le: 0.750", "head 1: cat → chat: 1.000"}));
  std::map<std::string, std::size_t> colours;
  for (const XmlElement& path : named(elements, "path")) ++colours[path.attributes.at("stroke")];
  // With one line each in the legend.
  EXPECT_EQ(colours, (std::map<std::string, std::size_t>{{kSeriesColours[0], 3}, {kSeriesColours[1], 4}}));
}

TEST(LinesSvg, TheHeavierLineIsWiderAndDenser) {
  const std::vector<XmlElement> paths =
      named(read_xml(draw_lines_svg({"", {"a", "b"}, {"x"}, Tensor(Shape{1, 2, 1}, {0.25F, 0.75F})})), "path");
  ASSERT_EQ(paths.size(), 2U);  // one head needs no legend
  for (const char* name : {"stroke-width", "stroke-opacity"})
    EXPECT_LT(std::stod(paths[0].attributes.at(name)), std::stod(paths[1].attributes.at(name)));
}

TEST(TraceSvg, TakesLabelsAndWeightsFromTheTrace) {
  const Trace trace = some_trace();
  EXPECT_EQ(draw_alignment_svg(trace, "t"),
            draw_matrix_svg({"t", {"le", "chat"}, {"the", "cat", "</s>"}, trace.alignment}));
  EXPECT_EQ(draw_lines_svg(trace),
            draw_lines_svg({"", {"le", "chat"}, {"the", "cat", "</s>"}, trace.alignment.reshape(Shape{1, 2, 3})}));
  const std::vector<std::string> source{"the", "cat", "</s>"};
  EXPECT_EQ(draw_lines_svg(trace, "encoder.layer1.self"),
            draw_lines_svg({"", source, source, trace.attentions[0].weights}));
}

TEST(MatrixSvg, StretchesOfALineHaveNumbersBelow) {
  MatrixPicture picture{"", {"one", "two"}, {}, Tensor(Shape{2, 100}, Real{0.01F}), 0.02, 0.05, "s"};
  for (int i = 0; i < 100; ++i) picture.columns.push_back(fmt::format("{:g} s", i * 0.05));
  picture.weights.data()[40] = 0.02F;
  const std::vector<XmlElement> elements = read_xml(draw_matrix_svg(picture));
  std::vector<std::string> texts;
  for (const XmlElement& text : named(elements, "text")) texts.push_back(text.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "two", "0", "1 s", "2 s", "3 s", "4 s", "5 s", "0", "0.01", "0.02",
                                             "weight"}));
  const std::vector<XmlElement> cells = named(elements, "rect");
  EXPECT_EQ(cells[40].attributes.at("fill"), weight_colour(1));
  EXPECT_EQ(cells[41].attributes.at("fill"), weight_colour(Real{0.01F} / 0.02));
  EXPECT_EQ(cells[40].attributes.at("width"), "8");
  EXPECT_EQ(tips(elements, "rect")[40], "2 s → one: 0.020");
  // Columns that begin half a column later have their numbers, and what stands above them, half a column further left.
  const auto places = [](const MatrixPicture& drawn, const std::string& word) {
    std::vector<double> found;
    for (const XmlElement& text : named(read_xml(draw_matrix_svg(drawn)), "text"))
      if (text.text == word) found.push_back(std::stod(text.attributes.at("x")));
    return found;
  };
  picture.stretches = {{{"said", 1, 2}}};
  const std::vector<double> number = places(picture, "3 s"), name = places(picture, "said");
  picture.first_column = 0.025;
  ASSERT_EQ(places(picture, "3 s").size(), 1U);
  EXPECT_NEAR(places(picture, "3 s")[0], number.at(0) - 4, 0.11);
  ASSERT_EQ(places(picture, "said").size(), 1U);
  EXPECT_NEAR(places(picture, "said")[0], name.at(0) - 4, 0.11);
}

TEST(DocumentSvg, WordsStandOnTheirColoursAndAreWrapped) {
  DocumentPicture picture{"t", {"good 0.88"}, std::vector<std::string>(60, "word"), Tensor(Shape{1, 60}, Real{0})};
  picture.words[59] = "<b>", picture.weights.data()[59] = 0.5F;
  const std::vector<XmlElement> elements = read_xml(draw_document_svg(picture));
  const std::vector<XmlElement> boxes = named(elements, "rect");
  const double width = std::stod(elements[0].attributes.at("width")),
               height = std::stod(elements[0].attributes.at("height"));
  ASSERT_GE(boxes.size(), 60U);
  EXPECT_EQ(boxes[59].attributes.at("fill"), weight_colour(1));
  EXPECT_EQ(boxes[0].attributes.at("fill"), weight_colour(0));
  EXPECT_GT(std::stod(boxes[59].attributes.at("y")), std::stod(boxes[0].attributes.at("y")));
  for (const XmlElement& box : boxes) {
    EXPECT_LE(std::stod(box.attributes.at("x")) + std::stod(box.attributes.at("width")), width);
    EXPECT_LE(std::stod(box.attributes.at("y")) + std::stod(box.attributes.at("height")), height);
  }
  EXPECT_EQ(tips(elements, "g")[59], "<b>: 0.500");
  EXPECT_EQ(named(elements, "text")[1].text, "good 0.88");
  EXPECT_EQ(message_of([] {
              draw_document_svg({"", {"a"}, {"b"}, Tensor(Shape{1, 2}, Real{0})});
            }),
            "[svg] weights [1, 2] do not fit 1 labels and 1 words");
  EXPECT_EQ(message_of([] {
              draw_document_svg({"", {"a"}, {}, Tensor(Shape{1, 0}, Real{0})});
            }),
            "[svg] there is nothing to draw: 1 labels of 0 words");
}

// Yang et al. 2016, figure 5: a line and a bar per sentence, words coloured by √p_s · p_w.
TEST(DocumentSvg, SentencesHaveLinesAndBarsOfTheirOwn) {
  const DocumentPicture picture{"",
                                {"good"},
                                {"a", "b", "c", "d"},
                                Tensor(Shape{1, 4}, {Real{0.16F}, Real{0.48F}, Real{0.18F}, Real{0.18F}}),
                                {2}};
  const std::vector<XmlElement> elements = read_xml(draw_document_svg(picture));
  std::vector<XmlElement> bars, words;
  for (const XmlElement& box : named(elements, "rect")) {
    const auto kind = box.attributes.find("class");
    if (kind == box.attributes.end())
      words.push_back(box);
    else if (kind->second == "bar")
      bars.push_back(box);
  }
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_NEAR(std::stod(bars[0].attributes.at("width")) / std::stod(bars[1].attributes.at("width")), 0.64 / 0.36, 0.01);
  EXPECT_LT(std::stod(words[1].attributes.at("y")), std::stod(words[2].attributes.at("y")));
  EXPECT_EQ(words[1].attributes.at("fill"), weight_colour(1));
  // √0.64 · 0.75 = 0.6 is the largest; √0.36 · 0.5 = 0.3.
  EXPECT_EQ(words[2].attributes.at("fill"), weight_colour(0.5));
}

TEST(RegionsSvg, HaveTheImageOnceAndItsRegionsForEveryWord) {
  const std::string url = "data:image/png;base64,iVBORw0KGgo=";
  const Tensor weights(Shape{2, 4}, {0.25F, 0.5F, 0.25F, 0, 0, 0, 0, 0});
  const std::vector<XmlElement> elements = read_xml(draw_regions_svg({"", {"a", "<b>"}, 2, 2, url, weights}));
  ASSERT_EQ(named(elements, "image").size(), 1U);
  EXPECT_EQ(named(elements, "image")[0].attributes.at("href"), url);
  EXPECT_EQ(named(elements, "use").size(), 2U);
  const std::vector<XmlElement> regions = named(elements, "rect");
  ASSERT_EQ(regions.size(), 8U);
  EXPECT_EQ(regions[0].attributes.at("fill-opacity"), "0.425");  // half of the darkest
  EXPECT_EQ(regions[1].attributes.at("fill-opacity"), "0.000");  // what was looked at most stays as it is
  EXPECT_EQ(regions[3].attributes.at("fill-opacity"), "0.850");
  EXPECT_EQ(regions[4].attributes.at("fill-opacity"), "0.850");  // a row of nothing
  EXPECT_EQ(tips(elements, "rect")[6], "row 2, column 1 → <b>: 0.000");
  EXPECT_EQ(message_of([] {
              draw_regions_svg({"", {"a"}, 2, 2, "", Tensor(Shape{1, 3}, Real{0})});
            }),
            "[svg] weights [1, 3] do not fit 1 words and 2 × 2 regions");
}

TEST(RegionsSvg, AnImageKeepsItsOwnShape) {
  const auto height_of = [](const std::string& preview) {
    return named(read_xml(draw_regions_svg({"", {"a"}, 2, 2, preview, Tensor(Shape{1, 4}, Real{1})})), "image")[0]
        .attributes.at("height");
  };
  EXPECT_EQ(height_of(preview_of(Tensor(Shape{60, 120, 3}, Real{0.5}))), "70");
  EXPECT_EQ(height_of(preview_of(Tensor(Shape{120, 80, 3}, Real{0.5}))), "210");
  EXPECT_EQ(height_of("data:image/png;base64,iVBORw0KGgo="), "140");  // cut short: as the grid
}

TEST(RegionsSvg, LoadNothingFromElsewhere) {
  for (const char* url : {"", "https://example.org/a.png", "data:image/svg+xml;base64,AA==", "\"/><script/>"}) {
    const std::vector<XmlElement> elements =
        read_xml(draw_regions_svg({"", {"a"}, 1, 1, url, Tensor(Shape{1, 1}, Real{1})}));
    EXPECT_TRUE(named(elements, "image").empty()) << url;
    EXPECT_TRUE(named(elements, "script").empty()) << url;
    EXPECT_EQ(named(elements, "rect").size(), 2U) << url;  // a frame instead
  }
}

// WCAG's relative luminance of "#rrggbb".
double luminance(const std::string& colour) {
  const auto part = [&](std::size_t at) {
    const double x = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return x <= 0.03928 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

TEST(WeightColour, LightnessRisesWithTheWeight) {
  for (int i = 1; i <= 100; ++i)
    EXPECT_GT(luminance(weight_colour(i / 100.0)), luminance(weight_colour((i - 1) / 100.0))) << i;
  // The ends differ as much as text and its page must (WCAG AAA: 7).
  EXPECT_GT((luminance(weight_colour(1)) + 0.05) / (luminance(weight_colour(0)) + 0.05), 7);
  EXPECT_EQ(weight_colour(-1), weight_colour(0));
  EXPECT_EQ(weight_colour(2), weight_colour(1));
  EXPECT_EQ(weight_colour(std::numeric_limits<double>::quiet_NaN()), weight_colour(0));
}

TEST(Shortened, NeverCutsACharacter) {
  EXPECT_EQ(shortened("cat", 14), "cat");
  EXPECT_EQ(shortened("我是一只猫", 3.2), "我是…");
  EXPECT_EQ(shortened("👩‍👩‍👧👩‍👩‍👧", 2.08), "👩‍👩‍👧…");  // nor a family
  EXPECT_EQ(shortened("", 1), "");
  EXPECT_DOUBLE_EQ(text_width("e\u0301"), text_width("e"));  // a mark has no width of its own
}

}  // namespace
}  // namespace heed::test
