#include "heed/data/corpora/scenes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "attention/composition_cases.h"
#include "heed/data/text_file.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

TEST(Scenes, AreTheSameForTheSameSeed) {
  const Scene one = draw_scene(1, 5), again = draw_scene(1, 5), other = draw_scene(2, 5);
  EXPECT_TRUE(same_bits(one.pixels, again.pixels));
  EXPECT_EQ(one.captions, again.captions);
  EXPECT_FALSE(same_bits(one.pixels, other.pixels));
}

// The middle of a box that has a filled shape in it is of the colour that the caption says.
TEST(Scenes, SayWhatIsInTheBoxes) {
  const std::set<std::string> nouns{"circle", "square", "triangle", "cross", "ring", "diamond"};
  double area = 0;
  Index boxes = 0, coloured = 0, filled = 0;
  for (Index i = 0; i < 200; ++i) {
    const Scene scene = draw_scene(3, i);
    ASSERT_EQ(scene.captions.size(), scene.boxes.size());
    for (std::size_t c = 0; c < scene.captions.size(); ++c) {
      const std::vector<std::string_view> words = words_of_line(scene.captions[c]);
      EXPECT_LE(static_cast<Index>(words.size()), kSceneLongest);
      for (const GoldBox& box : scene.boxes[c]) {
        const std::string noun(words.at(static_cast<std::size_t>(box.word)));
        const std::string colour(words.at(static_cast<std::size_t>(box.word - 1)));
        EXPECT_TRUE(nouns.contains(noun)) << scene.captions[c];
        EXPECT_TRUE(box.left >= 0 && box.top >= 0 && box.right <= 1 && box.bottom <= 1);
        area += (box.right - box.left) * (box.bottom - box.top), ++boxes;
        if (noun == "ring" || (colour != "red" && colour != "green" && colour != "blue")) continue;
        ++filled;
        const auto middle = [](double low, double high) {
          return static_cast<Index>((low + high) / 2 * static_cast<double>(kSceneSide));
        };
        const Real* pixel =
            scene.pixels.data() + 3 * (middle(box.top, box.bottom) * kSceneSide + middle(box.left, box.right));
        const Index channel = std::max_element(pixel, pixel + 3) - pixel;
        coloured += channel == (colour == "red" ? 0 : colour == "green" ? 1 : 2) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(filled, 50);
  EXPECT_EQ(coloured, filled);
  EXPECT_NEAR(area / static_cast<double>(boxes), 0.11, 0.02);
}

TEST(Scenes, AreWrittenInThreeParts) {
  const TemporaryFolder folder;
  const ScenesCounts counts = write_scenes({.folder = folder.path(), .scenes = 40, .valid = 0.1, .test = 0.2});
  EXPECT_EQ(counts.train, 28);
  EXPECT_EQ(counts.valid, 4);
  EXPECT_EQ(counts.test, 8);
  EXPECT_EQ(read_gold_boxes((folder.path() / "test.boxes.jsonl").string()).size(), 8u);
  std::set<std::string> images;
  for (const std::string& line : LineReader((folder.path() / "test.tsv").string()).rest())
    images.insert(line.substr(0, line.find('\t')));
  EXPECT_EQ(images.size(), 8u);
  for (const std::string& image : images) EXPECT_TRUE(std::filesystem::exists(folder.path() / image)) << image;
  EXPECT_ANY_THROW(write_scenes({.folder = folder.path(), .scenes = 40}));
}

}  // namespace
}  // namespace heed::test
