#include "heed/metrics/rationales.h"

#include <gtest/gtest.h>

#include "support/messages.h"

namespace heed {
namespace {

using test::message_of;

EraserAnnotation annotation(const std::string& id, const std::vector<TokenSpan>& spans) {
  EraserAnnotation result{.annotation_id = id, .classification = "x"};
  for (const TokenSpan& span : spans) result.evidences.push_back({{"", id, span.begin, span.end}});
  return result;
}
EraserPrediction prediction(const std::string& id, std::vector<TokenSpan> spans, std::vector<double> weights = {}) {
  return {.annotation_id = id, .rationales = {{.docid = id, .hard = std::move(spans), .soft = std::move(weights)}}};
}

// By hand:
//   a: truth 0-4, 10-12; predicted 1-4 (3 of 4 shared: right), 20-22 (nothing): 1 of 2 right, 1 of 2 found
//   b: truth 5-7; nothing predicted                                            : recall 0, no precision
//   c: no truth; predicted 0-1                                                 : precision 0, no recall
//   d: truth 0-2; predicted 0-4 (2 of 4 shared: just right)                    : 1 of 1, 1 of 1
const std::vector<EraserAnnotation> kTruth = {annotation("a", {{0, 4}, {10, 12}}), annotation("b", {{5, 7}}),
                                              annotation("c", {}), annotation("d", {{0, 2}})};
const std::vector<EraserPrediction> kPredicted = {prediction("a", {{1, 4}, {20, 22}}), prediction("b", {}),
                                                  prediction("c", {{0, 1}}), prediction("d", {{0, 4}})};

TEST(Rationales, SpansAgreeWhenHalfIsShared) {
  const RationaleAgreement found = span_agreement(kTruth, kPredicted);
  EXPECT_DOUBLE_EQ(found.micro.precision, 2. / 4);
  EXPECT_DOUBLE_EQ(found.micro.recall, 2. / 4);
  EXPECT_DOUBLE_EQ(found.micro.f1, .5);
  EXPECT_DOUBLE_EQ(found.macro.precision, (.5 + 0 + 1) / 3);  // of a, c and d
  EXPECT_DOUBLE_EQ(found.macro.recall, (.5 + 0 + 1) / 3);     // of a, b and d
  EXPECT_DOUBLE_EQ(found.macro.f1, .5);
  const RationaleAgreement strict = span_agreement(kTruth, kPredicted, .8);
  EXPECT_DOUBLE_EQ(strict.micro.f1, 0);
  EXPECT_DOUBLE_EQ(span_agreement(kTruth, {}).macro.f1, 0);
}

TEST(Rationales, TokensAgreeOneByOne) {
  const RationaleAgreement found = token_agreement(kTruth, kPredicted);
  // Tokens: a 6 true, 5 predicted, 3 shared; b 2, 0, 0; c 0, 1, 0; d 2, 4, 2.
  EXPECT_DOUBLE_EQ(found.micro.precision, 5. / 10);
  EXPECT_DOUBLE_EQ(found.micro.recall, 5. / 10);
  EXPECT_DOUBLE_EQ(found.macro.precision, (3. / 5 + 0 + 0 + 2. / 4) / 4);
  EXPECT_DOUBLE_EQ(found.macro.recall, (3. / 6 + 0 + 0 + 1) / 4);
  EXPECT_DOUBLE_EQ(found.macro.f1, (6. / 11 + 0 + 0 + 2. / 3) / 4);  // the mean of F1s
}

TEST(Rationales, OverlappingEvidencesCountATokenOnce) {
  const std::vector<EraserAnnotation> truth = {annotation("a", {{0, 3}, {1, 4}, {1, 4}})};
  const RationaleAgreement found = token_agreement(truth, std::vector{prediction("a", {{0, 4}})});
  EXPECT_DOUBLE_EQ(found.micro.precision, 1);
  EXPECT_DOUBLE_EQ(found.micro.recall, 1);
}

TEST(Rationales, AreaUnderPrecisionAndRecall) {
  // In falling order: true, false, true; points (0, 1), (1/2, 1), (1/2, 1/2), (1, 2/3).
  EXPECT_DOUBLE_EQ(area_under_precision_recall(std::vector<double>{.9, .1, .5}, {true, true, false}),
                   .5 + .5 * (.5 + 2. / 3) / 2);
  EXPECT_DOUBLE_EQ(area_under_precision_recall(std::vector<double>{3, 2, 1}, {true, false, false}), 1);
  // Equal weights come together: (0, 1), (1, 1/3).
  EXPECT_DOUBLE_EQ(area_under_precision_recall(std::vector<double>{1, 1, 1}, {true, false, false}), (1 + 1. / 3) / 2);
  EXPECT_DOUBLE_EQ(area_under_precision_recall(std::vector<double>{2, 1}, {false, false}), .5);
  EXPECT_NE(message_of([] {
              area_under_precision_recall(std::vector<double>{2}, {true, false});
            }).find("1 weights for 2"),
            std::string::npos);
}

TEST(Rationales, MeanAreaOverDocuments) {
  const std::vector<EraserAnnotation> truth = {annotation("a", {{0, 1}}), annotation("b", {{1, 2}})};
  EXPECT_DOUBLE_EQ(mean_area_under_precision_recall(
                       truth, std::vector{prediction("a", {}, {2, 1, 0}), prediction("b", {}, {1, 1, 1})}),
                   (1 + (1 + 1. / 3) / 2) / 2);
  EXPECT_NE(message_of([&] {
              mean_area_under_precision_recall(truth, std::vector{prediction("b", {}, {1})});
            }).find("tokens 1 to 2 is outside the 1 weights of b"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              mean_area_under_precision_recall({}, std::vector{prediction("b", {})});
            }).find("there are no weights of b"),
            std::string::npos);
}

TEST(Rationales, HeaviestTokensAsSpans) {
  const std::vector<double> weights = {.1, .4, .4, 0, .4, .2};
  EXPECT_EQ(spans_of_heaviest(weights, 3), (std::vector<TokenSpan>{{1, 3}, {4, 5}}));
  EXPECT_EQ(spans_of_heaviest(weights, 2), (std::vector<TokenSpan>{{1, 3}}));
  EXPECT_EQ(spans_of_heaviest(weights, 0), std::vector<TokenSpan>{});
  EXPECT_EQ(spans_of_heaviest(weights, 99), (std::vector<TokenSpan>{{0, 6}}));
}

}  // namespace
}  // namespace heed
