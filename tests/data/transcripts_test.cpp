#include "heed/data/transcripts.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/metrics/boundaries.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

const Transcript kHello{"a.wav", 1.25, {{"hello", 0.164, 0.548, 0.9}, {"world", 0.548, 1.071, 0.75}}};

TEST(Transcripts, PlainText) {
  EXPECT_EQ(written_transcript(kHello, "txt"), "hello world\n");
  EXPECT_EQ(written_transcript({"a.wav", 1}, "txt"), "\n");
}

TEST(Transcripts, Json) {
  EXPECT_EQ(written_transcript(kHello, "json"), R"({"file":"a.wav","duration":1.25,"text":"hello world","words":[)"
                                                R"({"word":"hello","start":0.164,"end":0.548,"confidence":0.9},)"
                                                R"({"word":"world","start":0.548,"end":1.071,"confidence":0.75}]})"
                                                "\n");
}

TEST(Transcripts, SubtitlesAreCutAtPauses) {
  const Transcript text{"a.wav", 3700, {{"one", 1, 2.5}, {"<two>", 4, 4.5}, {"three", 4.6, 3661.0625}}};
  EXPECT_EQ(written_transcript(text, "srt"),
            "1\n00:00:01,000 --> 00:00:02,500\none\n\n"
            "2\n00:00:04,000 --> 00:00:04,500\n<two>\n\n"
            "3\n00:00:04,600 --> 01:01:01,063\nthree\n\n");
  EXPECT_EQ(written_transcript(text, "vtt"),
            "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\none\n\n"
            "00:00:04.000 --> 00:00:04.500\n&lt;two&gt;\n\n"
            "00:00:04.600 --> 01:01:01.063\nthree\n\n");
  EXPECT_EQ(written_transcript({"a.wav", 1}, "vtt"), "WEBVTT\n\n");
  const std::vector<TimedWord> many(40, {"words", 0, 1});
  EXPECT_EQ(cues_of(many).size(), 3U);  // 14 of them fill a cue
}

TEST(Transcripts, CtmIsReadBack) {
  const std::string lines = written_transcript(kHello, "ctm");
  EXPECT_EQ(lines, "a.wav 1 0.164 0.384 hello 0.9000\na.wav 1 0.548 0.523 world 0.7500\n");
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "gold.ctm").string();
  write_file(path, ";; gold\n" + lines + "b A 1 .5 x\n");
  const std::vector<Transcript> read = read_ctm(path);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, "a.wav");
  EXPECT_EQ(text_of(read[0]), "hello world");
  EXPECT_NEAR(read[0].words[1].end, 1.071, 1e-9);
  EXPECT_EQ(read[1].words, (std::vector<TimedWord>{{"x", 1, 1.5, 1}}));
  write_file(path, "a 1 0 1\n");
  EXPECT_TRUE(message_of([&] { read_ctm(path); }).starts_with(path + ":1: a line of CTM is"));
  write_file(path, "a 1 zero 1 x\n");
  EXPECT_EQ(message_of([&] { read_ctm(path); }), path + ":1: zero is no time and no confidence");
}

TEST(Transcripts, TextGridHasNoGaps) {
  EXPECT_EQ(written_transcript({"a.wav", 1.25, {{"say \"hi\"", 0, 1.25}}}, "textgrid"),
            "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0 \nxmax = 1.25 \ntiers? <exists> \n"
            "size = 1 \nitem []: \n    item [1]:\n        class = \"IntervalTier\" \n        name = \"words\" \n"
            "        xmin = 0 \n        xmax = 1.25 \n        intervals: size = 1 \n        intervals [1]:\n"
            "            xmin = 0 \n            xmax = 1.25 \n            text = \"say \"\"hi\"\"\" \n");
  Transcript both = kHello;
  both.units = {{"hh", 0.164, 0.2}, {"ah", 0.19, 0.19}};  // overlaps, and is empty
  const std::string grid = written_transcript(both, "textgrid");
  for (const char* part :
       {"size = 2 \n", "intervals: size = 4 \n",
        "intervals [1]:\n            xmin = 0 \n            xmax = 0.164 \n            text = \"\" \n",
        "intervals [4]:\n            xmin = 1.071 \n            xmax = 1.25 \n            text = \"\" \n",
        "name = \"units\" \n", "xmin = 0.2 \n            xmax = 0.201 \n            text = \"ah\" \n"})
    EXPECT_NE(grid.find(part), std::string::npos) << part << grid;
}

TEST(Transcripts, UnknownFormatsAreErrors) {
  EXPECT_NE(message_of([] { written_transcript(kHello, "str"); }).find("srt"), std::string::npos);
  EXPECT_TRUE(can_follow_one_another("ctm"));
  EXPECT_FALSE(can_follow_one_another("srt"));
}

TEST(Boundaries, AreCountedByDistance) {
  const std::vector<TimedWord> gold{{"a", 0, 1}, {"b", 1, 2}, {"c", 2, 3}},
      found{{"a", 0.02, 1.04}, {"x", 1, 2}, {"c", 2.09, 3.2}};
  BoundaryCounts counts = count_boundaries(gold, found);
  EXPECT_EQ(counts.gold, 6);
  EXPECT_EQ(counts.matched, 4);
  EXPECT_EQ(counts.within, (std::array<Index, 3>{1, 2, 3}));
  EXPECT_NEAR(counts.mean_distance(), 0.35 / 4, 1e-9);
  EXPECT_NEAR(counts.share(2), 0.5, 1e-9);
  counts += count_boundaries(gold, gold);
  EXPECT_EQ(counts.within, (std::array<Index, 3>{7, 8, 9}));
  EXPECT_EQ(count_boundaries({}, found).share(0), 0);
}

}  // namespace
}  // namespace heed
