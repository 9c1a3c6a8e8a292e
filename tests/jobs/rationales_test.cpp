#include "heed/jobs/rationales.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/jobs/quality.h"
#include "support/messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

// Two documents of a data set as the benchmark lays it out: the first 8 words long with 2 that decide, the second 4.
class RationalesTest : public testing::Test {
 protected:
  RationalesTest() {
    write_file(
        folder_.path() / "docs.jsonl",
        "{\"docid\": \"one\", \"document\": \"a b c d\\ne f g h\"}\n{\"docid\": \"two\", \"document\": \"h g f e\"}\n");
    write_file(
        file_,
        R"({"annotation_id": "1", "query": "", "evidences": [[{"text": "c d", "docid": "one", "start_token": 2, )"
        R"("end_token": 4}]], "classification": "x"})"
        "\n"
        R"({"annotation_id": "2", "query": "", "evidences": [[{"text": "h", "docid": "two", "start_token": 0, )"
        R"("end_token": 1}]], "classification": "y"})"
        "\n");
  }
  TestSet read(const std::string& format) const {
    return read_test_set(job_named("classification"), {.files = {file_}, .format = format}, file_);
  }
  TemporaryFolder folder_;
  const std::string file_ = (folder_.path() / "test.jsonl").string();
};

TEST_F(RationalesTest, AnnotationsAreSamples) {
  for (const char* format : {"eraser", ""}) {  // named, or seen from the first line
    const TestSet test = read(format);
    ASSERT_EQ(test.samples.size(), 2u);
    EXPECT_EQ(test.samples[0].inputs.front().text, "a b c d e f g h");
    EXPECT_EQ(test.samples[1].outputs, std::vector<std::string>{"y"});
    EXPECT_EQ(test.gold[0].sure.size(), 2u);
  }
}

TEST_F(RationalesTest, PredictionsHaveWhatTheBenchmarkReads) {
  Runner runner(std::make_shared<const Bundle>(
                    test::make_tiny({.system = "han", .texts = {"a b c d e f g h\n"}, .labels = {"x", "y"}})),
                "han", 1, [](const std::string&) {});
  const std::vector<EraserAnnotation> annotations = read_eraser_annotations(file_);
  const TestSet test = read("eraser");
  const Rationales found = find_rationales(runner, annotations, test.samples);
  EXPECT_DOUBLE_EQ(found.share, (2.0 / 8 + 1.0 / 4) / 2);
  ASSERT_EQ(found.predictions.size(), 2u);

  const EraserPrediction& first = found.predictions[0];
  EXPECT_EQ(first.annotation_id, "1");
  const EraserRationale& rationale = first.rationales.front();
  EXPECT_EQ(rationale.docid, "one");
  ASSERT_EQ(rationale.soft.size(), 8u);
  double sum = 0;
  for (const double weight : rationale.soft) sum += weight;
  EXPECT_NEAR(sum, 1, 1e-5);  // han does not look at the end
  Index words = 0;
  for (const TokenSpan& span : rationale.hard) words += span.end - span.begin;
  EXPECT_EQ(words, 2);  // a quarter of 8

  // Without the rationale is what the model says of the text without these words.
  Sample rest = sample_of({""});
  const std::string letters = "abcdefgh";
  for (Index i = 0; i < 8; ++i) {
    const bool inside = std::any_of(rationale.hard.begin(), rationale.hard.end(),
                                    [i](const TokenSpan& span) { return span.begin <= i && i < span.end; });
    if (!inside)
      rest.inputs[0].text += std::string(rest.inputs[0].text.empty() ? "" : " ") + letters[static_cast<std::size_t>(i)];
  }
  const Result best = runner.run(std::span(&rest, 1)).front().front();
  for (const auto& [label, score] : first.without_rationale)
    if (label == best.text) {
      EXPECT_NEAR(score, best.score, 1e-6);
    }
  EXPECT_EQ(first.thresholds.size(), 5u);

  const std::string lines = eraser_lines(found.predictions);
  const auto object = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  for (const char* field :
       {"annotation_id", "rationales", "classification", "classification_scores",
        "comprehensiveness_classification_scores", "sufficiency_classification_scores", "thresholded_scores"})
    EXPECT_TRUE(object.contains(field)) << field;
}

TEST_F(RationalesTest, ADocumentThatIsMissingIsNamed) {
  write_file(folder_.path() / "docs.jsonl", "{\"docid\": \"two\", \"document\": \"h g f e\"}\n");
  EXPECT_EQ(test::message_of([&] { read("eraser"); }),
            (folder_.path() / "docs.jsonl").string() + ": there is no document one");
}

}  // namespace
}  // namespace heed
