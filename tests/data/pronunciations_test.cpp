#include "heed/data/pronunciations.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/data/samples.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

class PronunciationsTest : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) const {
    write_file(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }
  TemporaryFolder folder_;
};

constexpr std::string_view kDictionary =
    ";;; a comment\n"
    "# another\n"
    "A  AH\n"
    "A(2)  EY\n"
    "TOMATO(2)\tT AH M EY T OW\n"
    "TOMATO T AH M AA T OW\n"
    "red  R EH D # as a colour\n"
    "\n"
    "(PAREN  P ER EH N\n";

TEST_F(PronunciationsTest, FirstOnesOfAWordCount) {
  const Pronunciations said(write("cmu.dict", kDictionary));
  EXPECT_EQ(said.size(), 4U);
  EXPECT_EQ(said("a RED tomato").phonemes, "AH R EH D T AH M EY T OW");
  EXPECT_EQ(said("(paren").phonemes, "P ER EH N");
  EXPECT_EQ(said("").phonemes, "");
  EXPECT_EQ(said("a blue tomato , red").missing, "blue");
  EXPECT_EQ(said("A(2)").missing, "A(2)");
}

TEST_F(PronunciationsTest, WhatIsNoDictionaryIsSaidWithItsPlace) {
  EXPECT_EQ(message_of([&] { Pronunciations(write("a.dict", "A AH\nB\n")); }),
            (folder_.path() / "a.dict").string() +
                ":2: B has no phonemes; a line is a word and its phonemes, with blanks between");
  EXPECT_EQ(message_of([&] { Pronunciations(write("a.dict", ";;; nothing\n")); }),
            (folder_.path() / "a.dict").string() + ": there is no word in it");
  EXPECT_EQ(message_of([&] { Pronunciations(write("a.dict", "A AH\n\xff B\n")); }),
            (folder_.path() / "a.dict").string() + ":2: it is not UTF-8");
}

TEST_F(PronunciationsTest, SamplesHavePhonemesAndTheirMissingWordsAreCounted) {
  const SampleFiles files{.files = {write("a.tsv", "x\ta tomato\ny\tred grass\nz\tred\n")},
                          .allow_bad_lines = true,
                          .dictionary = write("cmu.dict", kDictionary)};
  const std::vector<SampleColumn> columns{{"source"}, {"target", Kind::text, true}};
  Samples samples(files, columns);
  std::vector<std::string> outputs;
  for (Sample sample; samples.next(sample);) outputs.push_back(sample.inputs[0].text + ": " + sample.outputs[0]);
  EXPECT_EQ(outputs, (std::vector<std::string>{"x: AH T AH M EY T OW", "z: R EH D"}));
  EXPECT_EQ(samples.report().text(),
            "3 samples, 2 used\n  1 left out, with a word that the dictionary lacks: " + files.files[0] + ":2 (grass)");
}

}  // namespace
}  // namespace heed
