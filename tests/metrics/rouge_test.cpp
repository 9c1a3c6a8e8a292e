#include "heed/metrics/rouge.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/metrics/copying.h"
#include "heed/metrics/porter.h"
#include "support/messages.h"

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

// The numbers are given to six digits.
void expect_rouge(const char* name, const std::string& summary, const Texts& references, std::array<double, 3> expected,
                  const RougeOptions& options = {}) {
  const RougeScore found = rouge(rouge_named(name), summary, references, options);
  EXPECT_NEAR(found.precision, expected[0], 5e-7) << name;
  EXPECT_NEAR(found.recall, expected[1], 5e-7) << name;
  EXPECT_NEAR(found.f, expected[2], 5e-7) << name;
}

TEST(Rouge, OfTwoSentences) {
  const Texts reference{"The quick brown foxes jumped over the lazy dogs.\nThey were running quickly to the river."};
  const std::string summary = "A quick brown fox jumps over lazy dogs.\nIt ran to the river, quickly running.";
  expect_rouge("rouge1", summary, reference, {.666667, .625, .645161});
  expect_rouge("rouge2", summary, reference, {.285714, .266667, .275862});
  for (const char* name : {"rougeL", "rougeLsum"}) expect_rouge(name, summary, reference, {.533333, .5, .516129});
  const RougeOptions stems{.stem = true};
  expect_rouge("rouge1", summary, reference, {.8, .75, .774194}, stems);
  expect_rouge("rouge2", summary, reference, {.5, .466667, .482759}, stems);
  for (const char* name : {"rougeL", "rougeLsum"})
    expect_rouge(name, summary, reference, {.666667, .625, .645161}, stems);
}

TEST(Rouge, JoinsTheSequencesOfLines) {
  const Texts reference{"the dog ran in the park .\nthe cat sat on the mat ."};
  const std::string summary = "the cat sat .\nthe dog ran .\nthe park was big .";
  expect_rouge("rougeL", summary, reference, {.5, .416667, .454545});
  expect_rouge("rougeLsum", summary, reference, {.8, .666667, .727273});
  expect_rouge("rouge2", summary, reference, {.555556, .454545, .5});
}

TEST(Rouge, TakesTheBestReferenceForEachMetric) {
  const Texts references{"the cat sat on the mat", "is on the mat"};
  const std::string summary = "the cat is on the mat";
  expect_rouge("rouge1", summary, references, {.833333, .833333, .833333});
  expect_rouge("rougeL", summary, references, {.833333, .833333, .833333});
  expect_rouge("rouge2", summary, references, {.6, 1, .75});
}

// DUC-2004's recall of 75 bytes, as ROUGE-1.5.5 gives it for `-m -b 75`, and without the limit.
TEST(Rouge, RecallOfTheFirstBytes) {
  const Texts references{"five protesters arrested at a Scottish shipyard",
                         "Anti-nuclear protest: police hold five at shipyard in northern Scotland"};
  const std::string summary = "police arrest five anti nuclear protesters outside the shipyard in northern scotland";
  const auto recall = [&](const char* name, const RougeOptions& options) {
    return rouge(rouge_named(name), summary, references, options).recall;
  };
  const RougeOptions limited{.stem = true, .bytes = 75, .pooled = true}, whole{.stem = true, .pooled = true};
  EXPECT_NEAR(recall("rouge1", limited), .66667, 5e-6);
  EXPECT_NEAR(recall("rouge2", limited), .25, 5e-6);
  EXPECT_NEAR(recall("rougeL", limited), .5, 5e-6);
  EXPECT_NEAR(recall("rouge1", whole), .72222, 5e-6);
  EXPECT_NEAR(recall("rouge2", whole), .3125, 5e-6);
  EXPECT_NEAR(recall("rougeL", whole), .55556, 5e-6);
  // Ends of lines are no bytes of the text, and a word may be cut.
  expect_rouge("rouge1", "ab\ncd\nef", Texts{"ab\ncd"}, {1, 1, 1}, {.bytes = 4});
  expect_rouge("rouge1", "abc def", Texts{"abc d"}, {1, 1, 1}, {.bytes = 5});
}

TEST(Rouge, NamesItsMetricsAndOptions) {
  EXPECT_EQ(rouge_named("rouge2").title(), "ROUGE-2");
  EXPECT_EQ(rouge_named("rougeLsum").title(), "ROUGE-Lsum");
  EXPECT_EQ(message_of([] { rouge_named("rougel"); }), "[rouge] there is no metric rougel; did you mean rougeL?");
  EXPECT_EQ(message_of([] { rouge(rouge_named("rouge1"), "a", {}); }), "[rouge] a summary has no reference");
  EXPECT_EQ(rouge_signature(1), "nrefs:1|case:lc|tok:rouge-score|stem:no|refs:best|bytes:all");
  EXPECT_EQ(rouge_signature(4, {.stem = true, .bytes = 75, .pooled = true}),
            "nrefs:4|case:lc|tok:rouge-score|stem:porter|refs:pooled|bytes:75");
}

// What rouge-score and NLTK gave: tests/reference/make_rouge_cases.py.
TEST(Rouge, IsThatOfRougeScore) {
  std::ifstream file(HEED_SOURCE_DIR "/tests/metrics/data/rouge_cases.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const auto stems = nlohmann::json::parse(line).at("stems");
  EXPECT_GE(stems.size(), 1000u);
  for (const auto& [word, stem] : stems.items()) EXPECT_EQ(porter_stem(word), stem.get<std::string>()) << word;
  std::size_t cases = 0;
  for (; std::getline(file, line); ++cases) {
    SCOPED_TRACE(cases);
    const auto recorded = nlohmann::json::parse(line);
    const auto summary = recorded.at("summary").get<std::string>();
    const auto references = recorded.at("references").get<Texts>();
    for (const bool stem : {false, true})
      for (const auto& [name, expected] : recorded.at(stem ? "stemmed" : "plain").items()) {
        const RougeScore found = rouge(rouge_named(name), summary, references, {.stem = stem});
        EXPECT_EQ(found.precision, expected.at(0).get<double>()) << name;
        EXPECT_EQ(found.recall, expected.at(1).get<double>()) << name;
        EXPECT_EQ(found.f, expected.at(2).get<double>()) << name;
      }
  }
  EXPECT_GE(cases, 200u);
}

TEST(Copying, TellsNewWordsFromCopiedOnes) {
  // Fragments: "the old dog" and "sleeps"; new are "today", and every pair but "the old" and "old dog".
  const CopyCounts counts = copy_counts("The old dog today sleeps", "A cat sees the old dog . It sleeps");
  EXPECT_DOUBLE_EQ(counts.novelty(1), 1.0 / 5);
  EXPECT_DOUBLE_EQ(counts.novelty(2), 2.0 / 4);
  EXPECT_DOUBLE_EQ(counts.novelty(3), 2.0 / 3);
  EXPECT_DOUBLE_EQ(counts.novelty(4), 1);
  EXPECT_DOUBLE_EQ(counts.coverage(), 4.0 / 5);
  EXPECT_DOUBLE_EQ(counts.density(), (9.0 + 1) / 5);
  CopyCounts sum = copy_counts("", "nothing");
  EXPECT_EQ(sum.novelty(1) + sum.coverage() + sum.density(), 0);
  sum += counts;
  EXPECT_EQ(sum.coverage(), counts.coverage());
  // The longest of several places is taken, from left to right.
  const CopyCounts greedy = copy_counts("a b c d", "a b x b c d a b c");
  EXPECT_EQ(greedy.copied, 4);
  EXPECT_EQ(greedy.squared, 9 + 1);
}

}  // namespace
}  // namespace heed::test
