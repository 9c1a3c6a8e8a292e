#include "heed/align/read_bitext.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/messages.h"
#include "support/packing.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using Numbers = std::vector<std::int32_t>;

class BitextFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static Numbers sentence(const NumberedSentences& text, std::size_t n) { return {text[n].begin(), text[n].end()}; }

  TemporaryFolder folder_;
  BitextReading reading_;
  Bitext text_;
};

TEST_F(BitextFiles, BecomeNumbersOfWords) {
  const std::string source = write("a.en", "the house\n the  small house\n");
  const std::string target = write("a.de.gz", test::gzipped("das haus\ndas kleine haus"));
  const SampleReport report = read_bitext(bitext_files({source, target}, false), reading_, text_);
  EXPECT_EQ(report.kept, 2);
  ASSERT_EQ(text_.size(), 2U);
  EXPECT_EQ(sentence(text_.source, 0), (Numbers{0, 1}));
  EXPECT_EQ(sentence(text_.source, 1), (Numbers{0, 2, 1}));
  EXPECT_EQ(sentence(text_.target, 1), (Numbers{0, 2, 1}));
  EXPECT_EQ(text_.source.longest(), 3U);
  EXPECT_EQ(text_.source.vocabulary(), 3U);
  EXPECT_EQ(text_.source.begin(1), 2U);
  EXPECT_EQ(reading_.source.text(2), "small");
  EXPECT_EQ(reading_.target.text(2), "kleine");
}

TEST_F(BitextFiles, MayBeOneTableAndInSmallLetters) {
  reading_.source.lowercase = true;
  read_bitext(bitext_files({write("a.tsv", "The house the\tDas Haus das\n")}, false), reading_, text_);
  EXPECT_EQ(sentence(text_.source, 0), (Numbers{0, 1, 0}));
  EXPECT_EQ(sentence(text_.target, 0), (Numbers{0, 1, 2}));
}

// A line that cannot be used keeps its place.
TEST_F(BitextFiles, KeepTheNumbersOfTheirLines) {
  reading_.longest = 3;
  const std::string source = write("a", "one\n\nof four words here\nbad\xff\ntwo\n \t\n");
  const std::string target = write("b", "eins\nzwei\ndrei\nvier\nfünf\nsechs\n");
  const SampleReport report = read_bitext(bitext_files({source, target}, true), reading_, text_);
  EXPECT_EQ(report.read, 6);
  EXPECT_EQ(report.kept, 2);
  ASSERT_EQ(text_.size(), 6U);
  EXPECT_EQ(text_.target.size(), 6U);
  for (const std::size_t n : {1, 2, 3, 5}) {
    EXPECT_TRUE(text_.source[n].empty()) << n;
    EXPECT_TRUE(text_.target[n].empty()) << n;
  }
  EXPECT_EQ(sentence(text_.source, 4), (Numbers{1}));
  EXPECT_EQ(reading_.target.text(text_.target[4].front()), "fünf");
  EXPECT_EQ(reading_.source.words.size(), 2U);  // what is left out has no numbers
}

TEST_F(BitextFiles, OfUnequalLengthAreRefused) {
  const std::vector<std::string> files{write("a", "one\ntwo\nthree\n"), write("b", "eins\nzwei\n")};
  EXPECT_NE(test::message_of([&] { read_bitext(bitext_files(files, false), reading_, text_); }).find("fewer lines"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
