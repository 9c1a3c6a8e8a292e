#include "heed/data/eraser.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Json = nlohmann::json;

class Eraser : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    write_file(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }
  std::string fault(std::string_view line) const {
    const std::string file = write("bad.jsonl", line);
    const std::string message = message_of([&] { read_eraser_annotations(file); });
    EXPECT_TRUE(message.starts_with(file)) << message;
    return message.substr(std::min(message.size(), file.size()));
  }
  TemporaryFolder folder_;
};

// The fields as the benchmark's own files have them.
const std::string kMovie =
    R"({"annotation_id": "negR_000.txt", "classification": "NEG", "docids": null, "evidences": [[{"docid": )"
    R"("negR_000.txt", "end_sentence": -1, "end_token": 4, "start_sentence": -1, "start_token": 2, "text": "bad pace"}], )"
    R"([{"docid": "negR_000.txt", "end_token": 9, "start_token": 7, "text": "no fun"}]], "query": "What is the )"
    R"(sentiment of this review?", "query_type": null})";

TEST_F(Eraser, AnnotationsAreRead) {
  const std::vector<EraserAnnotation> found = read_eraser_annotations(write(
      "x.jsonl", kMovie + "\n\n" +
                     R"({"annotation_id": 7, "classification": "no", "evidences": [], "docids": ["a", 3], )"
                     R"("document": "one two\nthree", "query_type": "q"})" +
                     "\n" + R"({"annotation_id": "i", "classification": "x", "evidences": [[{"start_token": 0, )" +
                     R"("end_token": 1, "start_sentence": 0, "end_sentence": 1}]]})"));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0],
            (EraserAnnotation{.annotation_id = "negR_000.txt",
                              .query = "What is the sentiment of this review?",
                              .evidences = {{{"bad pace", "negR_000.txt", 2, 4}}, {{"no fun", "negR_000.txt", 7, 9}}},
                              .classification = "NEG"}));
  EXPECT_EQ(found[1].annotation_id, "7");
  EXPECT_EQ(found[1].docids, (std::vector<std::string>{"a", "3"}));
  EXPECT_EQ(found[1].document, "one two\nthree");
  EXPECT_TRUE(found[1].evidences.empty());
  EXPECT_EQ(found[2].evidences, (std::vector<std::vector<EraserEvidence>>{{{"", "i", 0, 1, 0, 1}}}));
}

TEST_F(Eraser, AnnotationsComeBack) {
  const std::vector<EraserAnnotation> written = {
      {.annotation_id = "1",
       .query = "which?",
       .evidences = {{{"a \"b\"", "1_premise", 0, 2, 0, 1}, {"ü", "1_hypothesis", 4, 5}}},
       .classification = "yes",
       .query_type = "t",
       .docids = {"1_premise", "1_hypothesis"}},
      {.annotation_id = "2", .classification = "no", .document = "a b\nc"}};
  EXPECT_EQ(read_eraser_annotations(write("x.jsonl", eraser_lines(written))), written);
}

TEST_F(Eraser, BrokenAnnotations) {
  EXPECT_EQ(fault("[1]"), ":1: it is not a JSON object");
  EXPECT_EQ(fault("\n{\"annotation_id\": \"a\""), ":2: it is not valid JSON at byte 22");
  EXPECT_EQ(fault("\xff"), ":1: it is not UTF-8");
  EXPECT_EQ(fault(R"({"evidences": []})"), ":1: the field annotation_id is missing");
  EXPECT_EQ(fault(R"({"annotation_id": "a"})"), ":1: the field classification is missing");
  const auto with = [&](const std::string& evidences) {
    return fault(R"({"annotation_id": "a", "classification": "x", "evidences": )" + evidences + "}");
  };
  EXPECT_EQ(with("3"), ":1: evidences is no list");
  EXPECT_EQ(with("[3]"), ":1: a group of evidences is no list");
  EXPECT_EQ(with("[[3]]"), ":1: an evidence is no object");
  EXPECT_EQ(with(R"([[{"docid": []}]])"), ":1: the field docid is no text");
  EXPECT_EQ(with(R"([[{"start_token": "1"}]])"), ":1: the field start_token is no place");
  EXPECT_EQ(with(R"([[{"start_token": -2, "end_token": 1}]])"), ":1: the field start_token is no place");
  EXPECT_EQ(with(R"([[{"start_token": 4, "end_token": 2}]])"), ":1: the tokens 4 to 2 are no range");
  EXPECT_EQ(with(R"([[{"start_sentence": 4}]])"), ":1: the sentences 4 to -1 are no range");
}

TEST_F(Eraser, DocumentsOfAFolder) {
  write("movies/docs/a.txt", "one two .\n\n  three  \n");
  write("secret", "x");
  EraserDocuments documents((folder_.path() / "movies").string());
  EXPECT_EQ(documents.find("a.txt"), (EraserDocument{{"one", "two", "."}, {"three"}}));
  EXPECT_EQ(documents.find("a.txt").size(), 2U);
  EXPECT_NE(message_of([&] { documents.find("b.txt"); }).find("docs/b.txt: cannot open it"), std::string::npos);
  for (const char* outside : {"../../secret", "..", "", "/etc/hostname"})
    EXPECT_NE(message_of([&] { documents.find(outside); }).find("is no name of a document"), std::string::npos);
}

TEST_F(Eraser, DocumentsOfOneFile) {
  write("boolq/docs.jsonl",
        "{\"docid\": \"a\", \"document\": \"one\\ntwo three\"}\n{\"docid\": 5, \"document\": \"\"}\n");
  EraserDocuments documents((folder_.path() / "boolq").string());
  EXPECT_EQ(documents.find("a"), (EraserDocument{{"one"}, {"two", "three"}}));
  EXPECT_EQ(documents.find("5"), EraserDocument{});
  EXPECT_NE(message_of([&] { documents.find("b"); }).find("docs.jsonl: there is no document b"), std::string::npos);
}

EraserPrediction prediction() {
  return {.annotation_id = "a",
          .rationales = {{.docid = "d", .hard = {{5, 7}, {0, 2}}, .soft = {.25, 0, .5}, .soft_sentences = {1}}},
          .classification = "yes",
          .scores = {{"yes", .75}, {"no", .25}},
          .without_rationale = {{"yes", .5}, {"no", .5}},
          .only_rationale = {{"yes", 1}, {"no", 0}},
          .thresholds = {{.1, {{"yes", .25}, {"no", .75}}, {{"yes", .5}, {"no", .5}}}},
          .tokens_to_flip = 3};
}

TEST_F(Eraser, PredictionsAreWritten) {
  const std::vector<EraserPrediction> all(2, prediction());
  const std::string lines = eraser_lines(all);
  const std::string first = lines.substr(0, lines.find('\n'));
  EXPECT_EQ(lines, first + "\n" + first + "\n");
  EXPECT_EQ(Json::parse(first), Json::parse(R"({"annotation_id": "a", "rationales": [{"docid": "d",
    "hard_rationale_predictions": [{"start_token": 0, "end_token": 2}, {"start_token": 5, "end_token": 7}],
    "soft_rationale_predictions": [0.25, 0.0, 0.5], "soft_sentence_predictions": [1.0]}], "classification": "yes",
    "classification_scores": {"yes": 0.75, "no": 0.25},
    "comprehensiveness_classification_scores": {"yes": 0.5, "no": 0.5},
    "sufficiency_classification_scores": {"yes": 1.0, "no": 0.0}, "tokens_to_flip": 3,
    "thresholded_scores": [{"threshold": 0.1, "comprehensiveness_classification_scores": {"yes": 0.25, "no": 0.75},
    "sufficiency_classification_scores": {"yes": 0.5, "no": 0.5}}]})"));
  EXPECT_EQ(eraser_lines(std::span<const EraserPrediction>()), "");
}

TEST_F(Eraser, PredictionsThatTheBenchmarkWouldRefuse) {
  std::vector<EraserPrediction> all(2, prediction());
  all[1].only_rationale.clear();
  EXPECT_NE(message_of([&] { eraser_lines(all); }).find("all need the same"), std::string::npos);
  all[1] = prediction();
  all[1].rationales[0].hard = {{0, 3}, {2, 4}};
  EXPECT_EQ(message_of([&] { eraser_lines(all); }),
            "[eraser] a: the span 2 to 4 is empty or overlaps the one before it");
}

}  // namespace
}  // namespace heed
