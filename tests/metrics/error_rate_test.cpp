#include "heed/metrics/error_rate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <fstream>
#include <nlohmann/json.hpp>

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

ErrorCounts sum_of(const Texts& references, const Texts& hypotheses, ErrorUnit unit) {
  ErrorCounts sum;
  for (std::size_t i = 0; i < references.size(); ++i) sum += error_counts(references[i], hypotheses[i], unit);
  return sum;
}

TEST(ErrorRate, IsOfSummedErrors) {
  const Texts references{"seven one three two", "the cat sat on the mat", "open the red door now"},
      hypotheses{"seven three two", "the cat sat on on the mat", "open the read door now please"};
  const ErrorCounts words = sum_of(references, hypotheses, ErrorUnit::words);
  EXPECT_NEAR(words.rate(), .266667, 5e-7);
  EXPECT_EQ(words.hits, 13);
  EXPECT_EQ(words.substitutions, 1);
  EXPECT_EQ(words.deletions, 1);
  EXPECT_EQ(words.insertions, 2);
  const ErrorCounts characters = sum_of(references, hypotheses, ErrorUnit::characters);
  EXPECT_NEAR(characters.rate(), .241935, 5e-7);
  EXPECT_EQ(characters.errors(), 15);
  EXPECT_EQ(characters.reference(), 62);
}

TEST(ErrorRate, CountsSpaceBetweenWordsOnly) {
  EXPECT_EQ(error_counts(" a  b ", "a b", ErrorUnit::words).errors(), 0);
  EXPECT_EQ(error_counts(" a  b ", "a b", ErrorUnit::characters).errors(), 1);
  EXPECT_EQ(error_counts("größe", "grosse", ErrorUnit::characters).reference(), 5);
  EXPECT_EQ(error_counts("größe", "grosse", ErrorUnit::characters).errors(), 3);
  // Without a reference every word is an error.
  EXPECT_EQ(error_counts("", "a b", ErrorUnit::words).rate(), 2);
  EXPECT_EQ(error_counts("  ", "", ErrorUnit::characters).rate(), 0);
}

// What jiwer gave: tests/reference/make_error_rate_cases.py.
TEST(ErrorRate, IsThatOfJiwer) {
  std::ifstream file(HEED_SOURCE_DIR "/tests/metrics/data/error_rate_cases.jsonl");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    SCOPED_TRACE(cases);
    const auto recorded = nlohmann::json::parse(line);
    const auto references = recorded.at("references").get<Texts>(), hypotheses = recorded.at("hypotheses").get<Texts>();
    const ErrorCounts words = sum_of(references, hypotheses, ErrorUnit::words);
    EXPECT_EQ(words.errors(), recorded.at("word_errors").get<Index>());
    EXPECT_EQ(words.reference(), recorded.at("words").get<Index>());
    EXPECT_EQ(words.rate(), recorded.at("wer").get<double>());
    const ErrorCounts characters = sum_of(references, hypotheses, ErrorUnit::characters);
    EXPECT_EQ(characters.errors(), recorded.at("character_errors").get<Index>());
    EXPECT_EQ(characters.reference(), recorded.at("characters").get<Index>());
    EXPECT_EQ(characters.rate(), recorded.at("cer").get<double>());
  }
  EXPECT_GE(cases, 150u);
}

TEST(ErrorRate, WritesAlignmentsOneAboveTheOther) {
  const auto written = [](const char* reference, const char* hypothesis) {
    return written_alignment(
        align_errors(error_units(reference, ErrorUnit::words), error_units(hypothesis, ErrorUnit::words)));
  };
  EXPECT_EQ(written("the cat sat on the mat", "the bat sat the mat now"),
            "Scores: (#C #S #D #I) 4 1 1 1\n"
            "REF:  the CAT sat ON the mat ***\n"
            "HYP:  the BAT sat ** the mat NOW\n"
            "Eval:     S       D          I\n");
  // Words as wide as they are shown.
  EXPECT_EQ(written("犬 is", "dog is"),
            "Scores: (#C #S #D #I) 1 1 0 0\n"
            "REF:  犬  is\n"
            "HYP:  DOG is\n"
            "Eval: S\n");
  EXPECT_EQ(written("", ""), "Scores: (#C #S #D #I) 0 0 0 0\nREF:\nHYP:\nEval:\n");
}

TEST(ErrorRate, FoldsPhones) {
  const Texts all{"aa",  "ae", "ah", "ao", "aw", "ax",  "ax-h", "axr", "ay",  "b",   "bcl", "ch", "d",
                  "dcl", "dh", "dx", "eh", "el", "em",  "en",   "eng", "epi", "er",  "ey",  "f",  "g",
                  "gcl", "h#", "hh", "hv", "ih", "ix",  "iy",   "jh",  "k",   "kcl", "l",   "m",  "n",
                  "ng",  "nx", "ow", "oy", "p",  "pau", "pcl",  "q",   "r",   "s",   "sh",  "t",  "tcl",
                  "th",  "uh", "uw", "ux", "v",  "w",   "y",    "z",   "zh"};
  ASSERT_EQ(all.size(), 61u);
  Texts folded = folded_phones(all);
  EXPECT_EQ(folded.size(), 60u);  // q is left out
  std::ranges::sort(folded);
  folded.erase(std::unique(folded.begin(), folded.end()), folded.end());
  EXPECT_EQ(folded.size(), 39u);
  EXPECT_EQ(folded_phones(Texts{"h#", "sh", "ix", "q", "axr", "kcl"}), (Texts{"sil", "sh", "ih", "er", "sil"}));
}

}  // namespace
}  // namespace heed::test
