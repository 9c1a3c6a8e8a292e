#include "heed/metrics/classification.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/messages.h"

namespace heed::test {
namespace {

using Labels = std::vector<std::string>;

// A few sums and quotients in double.
constexpr double kReportTolerance = 1e-12;

const LabelPairs kAnimals = pair_labels(Labels{"cat", "dog", "cat", "bird", "dog", "cat", "fish", "dog", "bird", "cat"},
                                        Labels{"cat", "dog", "dog", "bird", "dog", "cat", "cat", "cat", "bird", "cat"});

void expect_near(const LabelScores& found, double precision, double recall, double f1) {
  EXPECT_NEAR(found.precision, precision, 5e-7);
  EXPECT_NEAR(found.recall, recall, 5e-7);
  EXPECT_NEAR(found.f1, f1, 5e-7);
}

TEST(Classification, PrintsTheReport) {
  EXPECT_EQ(classification_report(kAnimals), R"(              precision    recall  f1-score   support

        bird       1.00      1.00      1.00         2
         cat       0.60      0.75      0.67         4
         dog       0.67      0.67      0.67         3
        fish       0.00      0.00      0.00         1

    accuracy                           0.70        10
   macro avg       0.57      0.60      0.58        10
weighted avg       0.64      0.70      0.67        10
)");
}

TEST(Classification, AveragesOverLabels) {
  const std::vector<LabelCounts> counts = label_counts(kAnimals);
  expect_near(macro_average(counts), .566667, .604167, .583333);
  expect_near(weighted_average(counts), .64, .7, .666667);
  expect_near(micro_average(counts), .7, .7, .7);
  // The fish was never given: its precision is undefined, but its F1 is not.
  expect_near(label_scores(counts[3], 1), 1, 0, 0);
  EXPECT_NEAR(macro_average(counts, 1).precision, .816667, 5e-7);
  EXPECT_NEAR(weighted_average(counts, 1).precision, .74, 5e-7);
  EXPECT_EQ(macro_average(counts).support, 10);
}

TEST(Classification, CountsConfusionsAndChosenSamples) {
  EXPECT_EQ(kAnimals.labels, (Labels{"bird", "cat", "dog", "fish"}));
  EXPECT_EQ(confusion_of(kAnimals), (std::vector<Index>{2, 0, 0, 0, 0, 3, 1, 0, 0, 1, 2, 0, 0, 1, 0, 0}));
  const std::vector<std::size_t> chosen{2, 2, 6};
  const std::vector<LabelCounts> counts = label_counts(kAnimals, chosen);
  EXPECT_EQ(counts[1].support, 2);
  EXPECT_EQ(counts[1].given, 1);
  EXPECT_EQ(counts[1].right, 0);
  EXPECT_EQ(counts[2].given, 2);
  EXPECT_EQ(counts[3].support, 1);
  EXPECT_EQ(message_of([] { pair_labels(Labels{"a"}, Labels{}); }), "[classification] 0 labels were given for 1");
  EXPECT_EQ(macro_average({}).f1, 0);
}

// What scikit-learn gave: tests/reference/make_classification_cases.py.
TEST(Classification, IsThatOfScikitLearn) {
  std::ifstream file(HEED_SOURCE_DIR "/tests/metrics/data/classification_cases.jsonl");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    SCOPED_TRACE(cases);
    const auto recorded = nlohmann::json::parse(line);
    const LabelPairs pairs = pair_labels(recorded.at("truth").get<Labels>(), recorded.at("given").get<Labels>());
    const nlohmann::json& given = recorded.at("options");
    ClassificationReportOptions options{.undefined = given.value("zero_division", 0.0),
                                        .digits = given.value("digits", 2)};
    if (given.contains("labels")) options.labels = given.at("labels").get<Labels>();
    EXPECT_EQ(classification_report(pairs, options), recorded.at("report").get<std::string>());
    if (options.labels) continue;
    const std::vector<LabelCounts> counts = label_counts(pairs);
    const auto compare = [&](const char* name, const LabelScores& found) {
      const nlohmann::json& expected = recorded.at("averages").at(name);
      EXPECT_NEAR(found.precision, expected.at("precision").get<double>(), kReportTolerance) << name;
      EXPECT_NEAR(found.recall, expected.at("recall").get<double>(), kReportTolerance) << name;
      EXPECT_NEAR(found.f1, expected.at("f1-score").get<double>(), kReportTolerance) << name;
      EXPECT_EQ(static_cast<double>(found.support), expected.at("support").get<double>()) << name;
    };
    compare("macro avg", macro_average(counts, options.undefined));
    compare("weighted avg", weighted_average(counts, options.undefined));
    EXPECT_NEAR(micro_average(counts).recall, recorded.at("accuracy").get<double>(), kReportTolerance);
    EXPECT_NEAR(micro_average(counts).f1, recorded.at("micro").get<double>(), kReportTolerance);
    EXPECT_NEAR(macro_average(counts).f1, recorded.at("macro").get<double>(), kReportTolerance);
    if (!recorded.contains("confusion")) continue;
    std::vector<Index> flat;
    for (const auto& row : recorded.at("confusion")) flat.insert(flat.end(), row.begin(), row.end());
    EXPECT_EQ(confusion_of(pairs), flat);
  }
  EXPECT_GE(cases, 100u);
}

}  // namespace
}  // namespace heed::test
