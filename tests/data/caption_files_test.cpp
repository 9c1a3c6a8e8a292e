#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/data/gold_boxes.h"
#include "heed/data/sample_files.h"
#include "support/messages.h"
#include "support/packing.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

const std::vector<SampleColumn> kColumns{{"image", Kind::image}, {.name = "caption", .output = true}};

class CaptionFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    write_file(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }
  // "image: caption / caption", or the fault in brackets, of each record.
  static std::vector<std::string> read(const std::string& file, const std::string& format = "") {
    std::vector<std::string> all;
    const auto records = open_records({.files = {file}, .format = format}, kColumns);
    for (SampleRecord record; records->next(record); record = {})
      all.push_back(fmt::format("{}: {}{}", record.cells.at(0).at(0), fmt::join(record.cells.at(1), " / "),
                                record.fault.empty() ? "" : " [" + record.fault + "]"));
    return all;
  }
  using List = std::vector<std::string>;
  TemporaryFolder folder_;
};

TEST_F(CaptionFiles, LinesOfOneImageAreOneSample) {
  const std::string text = "a.jpg#0\tA dog .\na.jpg#1\tA brown dog .\nb#c.jpg\tTwo children\nno tab\nd.jpg\tx\n";
  const List expected{"a.jpg: A dog . / A brown dog .", "b#c.jpg: Two children",
                      "no tab:  [left out, a line without a tab and a caption]", "d.jpg: x"};
  EXPECT_EQ(read(write("flickr.token.txt", text)), expected);
  EXPECT_EQ(read(write("captions.tsv", "image\tcaption\n" + text)), expected);
  EXPECT_EQ(read(write("captions.tsv.xz", xz_packed(text))), expected);
}

TEST_F(CaptionFiles, ALineIsWhereAnImageBegins) {
  const std::string file = write("lines.tsv", "image\tcaption\na.jpg\tone\na.jpg\ttwo\nb.jpg\tthree\n\nalone\n");
  const auto records = open_records({.files = {file}}, kColumns);
  std::vector<std::string> places;
  for (SampleRecord record; records->next(record); record = {}) places.push_back(record.place.text());
  EXPECT_EQ(places, (List{file + ":2", file + ":4", file + ":6"}));
}

TEST_F(CaptionFiles, AListChoosesImages) {
  write("dev.txt", "b.jpg\nc.jpg\n");
  const std::string file = write("flickr.txt", "a.jpg#0\tone\nb.jpg#0\ttwo\nb.jpg#1\tthree\n");
  EXPECT_EQ(read(file + "#dev.txt"), List{"b.jpg: two / three"});
  EXPECT_NE(message_of([&] { read(file + "#none.txt", "captions"); }).find("none.txt"), std::string::npos);
}

TEST_F(CaptionFiles, KarpathysSplitIsSaidBehindTheName) {
  const std::string file =
      write("dataset.json",
            R"({"images": [{"sentids": [0], "filepath": "val2014", "filename": "a.jpg", "split": "train",
          "sentences": [{"raw": "A dog.", "tokens": ["a", "dog"]}, {"tokens": ["two", "dogs"]}]},
          {"filename": "b.jpg", "split": "restval", "sentences": [{"raw": "b"}]},
          {"filename": "c.jpg", "split": "test", "sentences": []}, {"split": "test"}], "dataset": "coco"})");
  EXPECT_EQ(read(file + "#train"), List{"val2014/a.jpg: A dog. / two dogs"});
  EXPECT_EQ(read(file + "#train+restval").size(), 2u);
  EXPECT_EQ(read(file + "#test"), (List{"c.jpg: ", ":  [left out, not an image with captions]"}));
  EXPECT_EQ(message_of([&] { read(file); }),
            fmt::format("{0}: say which of its splits is meant: {0}#restval|test|train", file));
  EXPECT_EQ(message_of([&] { read(file + "#dev"); }),
            fmt::format("{}: there is no split dev; there are restval, test, train", file));
}

TEST_F(CaptionFiles, CocosCaptionsFindTheirImages) {
  const std::string file =
      write("captions.json", R"({"info": {}, "images": [{"id": 7, "file_name": "a.jpg"}, {"id": 8}],
          "annotations": [{"image_id": 7, "caption": "one"}, {"image_id": 9, "caption": "lost"},
          {"image_id": 7, "caption": "two"}]})");
  EXPECT_EQ(read(file), (List{"a.jpg: one / two", ":  [left out, not an image with captions]",
                              "image 9:  [left out, a caption of an image that is not listed]"}));
  EXPECT_EQ(message_of([&] { read(write("x.json", "[1"), "coco"); }),
            (folder_.path() / "x.json").string() + ": it is not valid JSON at byte 3");
  EXPECT_EQ(message_of([&] { read(write("x.json", "{}"), "coco"); }),
            (folder_.path() / "x.json").string() + ": it has no list images");
}

TEST_F(CaptionFiles, BoxesComeBackAsTheyWereWritten) {
  const std::string file = write("gold.jsonl", gold_boxes_line({{3, 0.25, 0.5, 0.75, 1}}) + "\n{\"boxes\": []}\n");
  const std::vector<std::vector<GoldBox>> boxes = read_gold_boxes(file);
  ASSERT_EQ(boxes.size(), 2u);
  ASSERT_EQ(boxes[0].size(), 1u);
  EXPECT_EQ(boxes[0][0].word, 3);
  EXPECT_EQ(boxes[0][0].right, 0.75);
  EXPECT_NE(message_of([&] {
              read_gold_boxes(write("bad.jsonl", R"({"boxes": [{"word": 1, "box": [0, 0, 2, 1]}]})"));
            }).find("bad.jsonl, line 1: "),
            std::string::npos);
}

}  // namespace
}  // namespace heed::test
