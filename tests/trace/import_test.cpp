#include "heed/trace/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numbers>

#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

std::vector<Trace> imported(const std::string& format, std::vector<std::string> dump,
                            std::vector<std::string> source = {}, std::vector<std::string> target = {}) {
  ImportText text{{"dump", std::move(dump)}, {}, {}};
  if (!source.empty()) text.source = NamedLines{"source", std::move(source)};
  if (!target.empty()) text.target = NamedLines{"target", std::move(target)};
  return import_traces(format, text);
}

std::vector<std::string> tokens_of(const TraceText& text) {
  std::vector<std::string> list;
  for (const TraceToken& token : text.tokens) list.push_back(token.text);
  return list;
}
std::vector<std::string> words(const TraceText& text) {
  std::vector<std::string> list;
  for (const TraceWord& word : text.words) list.push_back(word.text);
  return list;
}
using Texts = std::vector<std::string>;

void expect_weights_of(const Trace& trace, const Shape& shape, std::initializer_list<Real> weights) {
  ASSERT_EQ(trace.alignment.shape(), shape);
  EXPECT_TRUE(std::equal(weights.begin(), weights.end(), trace.alignment.data()));
}

TEST(ImportMarian, SoftAlignmentWithTheEnds) {
  const std::vector<Trace> traces =
      imported("marian", {"le chat ||| 0.7,0.2,0.1 0,1,0 1e-05,0,1", " ||| 0.5,0.5"}, {"the cat", "a"});
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].system, "marian");
  EXPECT_EQ(traces[0].model, "dump");
  EXPECT_EQ(traces[0].axis("source").text.text, "the cat");
  EXPECT_EQ(traces[0].axis("target").text.text, "le chat");
  EXPECT_EQ(tokens_of(traces[0].axis("source").text), (Texts{"the", "cat", "</s>"}));
  EXPECT_EQ(tokens_of(traces[0].axis("target").text), (Texts{"le", "chat", "</s>"}));
  expect_weights_of(traces[0], Shape{3, 3}, {0.7F, 0.2F, 0.1F, 0, 1, 0, 1e-5F, 0, 1});
  EXPECT_EQ(tokens_of(traces[1].axis("target").text), (Texts{"</s>"}));  // nothing but the end was written
}

TEST(ImportMarian, ListsOfNBestNameTheirSentence) {
  const std::vector<Trace> traces = imported(
      "marian",
      {"0 ||| un ||| 0-0 1-1 ||| F0= -1.5 ||| -0.7", "1 ||| b b ||| 0-0 0-1 ||| WordScores= -1 -2 -3 ||| F0= -2 ||| -1",
       "1 ||| b ||| 0-0 ||| F0= -2 ||| -1"},
      {"a", "bee"});
  ASSERT_EQ(traces.size(), 3U);
  expect_weights_of(traces[0], Shape{2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(tokens_of(traces[0].axis("target").text), (Texts{"un", "</s>"}));
  EXPECT_EQ(traces[1].axis("source").text.text, "bee");
  expect_weights_of(traces[1], Shape{2, 1}, {1, 1});
  EXPECT_EQ(traces[2].axis("target").text.text, "b");
}

TEST(ImportMarian, ErrorsNameTheLine) {
  const auto fault = [](Texts dump, Texts source) { return message_of([&] { imported("marian", dump, source); }); };
  EXPECT_EQ(fault({"le chat"}, {"the cat"}),
            "dump: line 1: there is no ||| with an alignment behind it; was Marian run with --alignment?");
  EXPECT_EQ(fault({"x ||| 1,0 0,1", "x ||| 1,2"}, {"a", "b"}), "dump: line 2: 2 is not a weight between 0 and 1");
  EXPECT_EQ(fault({"x ||| nan,1"}, {"a"}), "dump: line 1: nan is not a weight between 0 and 1");
  EXPECT_EQ(fault({"x ||| 1,0 1"}, {"a"}), "dump: line 1: rows of 2 and of 1 weights");
  EXPECT_EQ(fault({"x ||| 0-2"}, {"a"}), "dump: line 1: a link 0-2 between 1 source and 1 target words");
  EXPECT_EQ(fault({"x ||| 0-0"}, {"a", "b"}), "dump has 1 lines, source has 2");
  EXPECT_EQ(fault({"3 ||| x ||| 0-0 ||| F0= 1 ||| 1"}, {"a"}), "dump: line 1: sentence 4 of 1 in source");
  EXPECT_EQ(fault({"x ||| 0-0"}, {"\xFF"}), "source: line 1: is not UTF-8");
  EXPECT_EQ(
      fault({"x ||| 1,0 0,1 1,0"}, {"a"}),
      "dump: line 1: 3 rows of weights for 1 target words; were pieces of words put together again? The sentences "
      "are needed as the model read and wrote them");
  EXPECT_EQ(message_of([] { imported("marian", {"x ||| 0-0"}); }),
            "[import] marian does not bring the source sentences; their file is needed");
}

TEST(ImportNematus, BlocksOfWeights) {
  const std::vector<Trace> traces =
      imported("nematus", {"0 ||| le chat ||| 0 ||| the cat ||| 3 3", "0.7 0.2 0.1 ", "0 1 0 ", "0 0 1 ", "", "",
                           "1 ||| b ||| -2.5 ||| a ||| 2 2", "1 0", "0 1"});
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].system, "nematus");
  expect_weights_of(traces[0], Shape{3, 3}, {0.7F, 0.2F, 0.1F, 0, 1, 0, 0, 0, 1});
  EXPECT_EQ(tokens_of(traces[1].axis("source").text), (Texts{"a", "</s>"}));
  EXPECT_EQ(traces[1].axis("target").text.text, "b");
}

TEST(ImportNematus, LinesOfJson) {
  const std::string whole = R"({"matrix": [[0.5, 0.5], [0, 1]], "source_sent": "a", "target_sent": "b", "id": 0})";
  const std::vector<Trace> traces =
      imported("nematus", {whole, "", R"({"matrix": [[1]]})"}, {"", "", "c"}, {"", "", "d"});
  ASSERT_EQ(traces.size(), 2U);
  expect_weights_of(traces[0], Shape{2, 2}, {0.5F, 0.5F, 0, 1});
  EXPECT_EQ(traces[1].axis("source").text.text, "c");
  EXPECT_EQ(traces[1].axis("target").text.text, "d");
}

TEST(ImportNematus, ErrorsNameTheLine) {
  const auto fault = [](Texts dump) { return message_of([&] { imported("nematus", dump); }); };
  EXPECT_EQ(fault({"0 ||| a"}), "dump: line 1: 2 fields between |||, not number, target, score, source and counts");
  EXPECT_EQ(fault({"0 ||| b ||| 0 ||| a ||| 1 1", "0.5x"}), "dump: line 2: 0.5x is not a weight between 0 and 1");
  EXPECT_EQ(fault({"{\"matrix\": 1}"}), "dump: line 1: is not a JSON object with a \"matrix\"");
  EXPECT_EQ(fault({"{"}), "dump: line 1: it is not valid JSON at byte 2");
  EXPECT_EQ(fault({"{\"matrix\": [1]}"}), "dump: line 1: a row of the matrix is not a list");
  EXPECT_EQ(fault({"{\"matrix\": [[\"a\"]]}"}), "dump: line 1: \"a\" is not a weight between 0 and 1");
  EXPECT_EQ(fault({"{\"matrix\": [[1]], \"source_sent\": 1}"}), "dump: line 1: \"source_sent\" is not a text");
  EXPECT_EQ(fault({"{\"matrix\": [[1]]}"}),
            "[import] nematus does not bring the source sentences; their file is needed");
}

TEST(ImportSockeye, MatrixAndLinks) {
  const std::vector<Trace> matrix =
      imported("sockeye", {"1 ||| le chat ||| 0.35 ||| the cat ||| 2 ||| 2", "0.9 0.1", "0.2 0.8", ""});
  ASSERT_EQ(matrix.size(), 1U);
  EXPECT_EQ(matrix[0].system, "sockeye");
  expect_weights_of(matrix[0], Shape{2, 2}, {0.9F, 0.1F, 0.2F, 0.8F});

  const std::vector<Trace> links = imported("sockeye", {"le chat\t0-0 1-1", "\t"}, {"the cat", "x"});
  ASSERT_EQ(links.size(), 2U);
  expect_weights_of(links[0], Shape{2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(links[1].alignment.shape(), (Shape{0, 1}));
  EXPECT_EQ(message_of([] { imported("sockeye", {"le chat 0-0"}, {"the cat"}); }),
            "dump: line 1: 1 columns between tabs, not target and links");
}

TEST(ImportFairseq, BySentenceWithScores) {
  const std::vector<Trace> traces =
      imported("fairseq", {"2026-01-01 | INFO | loading model", "S-1\tthe cat", "T-1\tle chat", "H-1\t-0.25\tle chat",
                           "D-1\t-0.25\tle chat", "P-1\t-1.0 -2.0 -0.5", "A-1\t0-0 1-1", "S-0\ta@@ b", "H-0\t-0.5\tc",
                           "P-0\t-1 -1", "A-0\t0.500000,0.250000,0.250000 0,0,1", "H-0\t-0.75\td", "A-0\t1-0",
                           "Generate test with beam=5: BLEU4 = 1"});
  ASSERT_EQ(traces.size(), 3U);
  EXPECT_EQ(traces[0].axis("source").text.text, "ab");
  EXPECT_EQ(tokens_of(traces[0].axis("source").text), (Texts{"a@@", "b", "</s>"}));
  expect_weights_of(traces[0], Shape{2, 3}, {0.5F, 0.25F, 0.25F, 0, 0, 1});
  EXPECT_EQ(traces[0].log_probabilities.size(), 2U);
  EXPECT_EQ(traces[1].axis("target").text.text, "d");  // the second best
  EXPECT_TRUE(traces[1].log_probabilities.empty());
  EXPECT_EQ(traces[2].axis("source").text.text, "the cat");
  ASSERT_EQ(traces[2].log_probabilities.size(), 2U);  // the end has no row here
  EXPECT_DOUBLE_EQ(traces[2].log_probabilities[1], -2 * std::numbers::ln2);
}

TEST(ImportFairseq, ErrorsNameTheLine) {
  const auto fault = [](Texts dump) { return message_of([&] { imported("fairseq", dump); }); };
  EXPECT_EQ(fault({"H-0\t-1\tx"}), "dump: there is no line A-; was fairseq-generate run with --print-alignment?");
  EXPECT_EQ(fault({"H-0\t-1\tx", "A-0\t0-0"}), "dump: line 2: no S-0 and H-0 come before A-0");
  EXPECT_EQ(fault({"S-0\ta", "H-0\tx"}), "dump: line 2: 2 columns between tabs, not 3");
  EXPECT_EQ(fault({"S-0\ta", "H-0\t1\tx", "P-0\tinf", "A-0\t0-0"}), "dump: line 3: inf is not a score");
}

TEST(ImportPharaoh, FromFiles) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const char* text) {
    std::ofstream(folder.path() / name) << text;
    return (folder.path() / name).string();
  };
  const std::string links = file("links", "0-0 1-1 1-0\n\n0.5,0.5\n");
  const std::string source = file("source", "the cat\na\nb c\n"), target = file("target", "le chat\nb\nx\n");
  const std::vector<Trace> traces = import_traces("pharaoh", links, source, target);
  ASSERT_EQ(traces.size(), 3U);
  expect_weights_of(traces[0], Shape{2, 2}, {1, 1, 0, 1});
  expect_weights_of(traces[1], Shape{1, 1}, {0});
  expect_weights_of(traces[2], Shape{1, 2}, {0.5F, 0.5F});
  EXPECT_EQ(traces[0].model, links);
  EXPECT_EQ(message_of([&] { import_traces("pharaoh", links, source); }),
            "[import] pharaoh does not bring the target sentences; their file is needed");
  EXPECT_NE(message_of([&] { import_traces("pharaoh", links, source, links + "x"); }).find("linksx"),
            std::string::npos);
}

TEST(Import, PiecesBecomeWordsWithTheirPlaces) {
  const std::vector<Trace> traces =
      imported("pharaoh", {"0-0 1-1 2-2 3-3", "0-0"}, {"▁für ▁Net any ▁ah", "a@@ é@@ z b"}, {"1 2 3 4", "x"});
  const TraceText& pieces = traces[0].axis("source").text;
  EXPECT_EQ(pieces.text, "für Netany ah");
  EXPECT_EQ(words(pieces), (Texts{"für", "Netany", "ah"}));
  EXPECT_EQ(pieces.tokens[2].begin, 7);  // in characters
  EXPECT_EQ(pieces.tokens[2].end, 10);
  EXPECT_EQ(pieces.tokens[2].word, 1);
  EXPECT_EQ(pieces.words[1].begin, 4);
  EXPECT_EQ(pieces.words[1].end, 10);
  EXPECT_EQ(words(traces[1].axis("source").text), (Texts{"aéz", "b"}));
  EXPECT_EQ(tokens_of(traces[1].axis("source").text), (Texts{"a@@", "é@@", "z", "b"}));
  EXPECT_EQ(traces[1].axis("source").text.tokens[3].begin, 4);
}

TEST(Import, UnknownFormatsAreErrors) {
  EXPECT_EQ(message_of([] { imported("marion", {}); }), "[import] there is no format marion; did you mean marian?");
  EXPECT_EQ(import_formats().size(), 5U);
}

}  // namespace
}  // namespace heed::test
