#include "heed/jobs/job_metrics.h"

#include <gtest/gtest.h>

#include "heed/jobs/summary_report.h"
#include "heed/metrics/rouge.h"

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

TEST(JobMetrics, OfLabelsAreInPercent) {
  const Texts outputs{"cat", "dog", "dog", "bird"};
  const std::vector<Sample> samples{sample_of({"1"}, {"cat"}), sample_of({"2"}, {"cat"}), sample_of({"3"}, {"dog"}),
                                    sample_of({"4"}, {"bird"})};
  EXPECT_EQ(accuracy_metric().measure(outputs, samples), 75);
  EXPECT_EQ(micro_f1_metric().measure(outputs, samples), 75);
  EXPECT_NEAR(macro_f1_metric().measure(outputs, samples), 100 * (2.0 / 3 + 2.0 / 3 + 1) / 3, 1e-9);
  // Of a choice of samples only the labels in it count.
  const std::vector<std::size_t> chosen{0, 0, 3};
  for (const Metric& metric : {accuracy_metric(), macro_f1_metric(), micro_f1_metric()})
    EXPECT_EQ(metric.by_samples(outputs, samples)(chosen), 100) << metric.name;
  EXPECT_EQ(label_report(outputs, samples).find("              precision    recall  f1-score   support\n\n"), 0u);
}

TEST(JobMetrics, SummariesAreMeasuredByRouge) {
  const Job& job = job_named("summarisation");
  ASSERT_GE(job.metrics.size(), 3u);
  EXPECT_EQ(job.metrics[0].name, "rougeL");
  EXPECT_EQ(job.metrics[1].name, "rouge1");
  EXPECT_EQ(job.metrics[2].name, "rouge2");
  const Texts outputs{"the cat is on the mat", "a dog"};
  const std::vector<Sample> samples{
      sample_of({"there is a cat , and it is on the mat"}, {"the cat sat on the mat", "is on the mat"}),
      sample_of({"a dog runs"}, {"the dog runs"})};
  for (std::size_t i = 0; i < 3; ++i) {
    const RougeKind kind = rouge_named(job.metrics[i].name);
    const double mean =
        (rouge(kind, outputs[0], samples[0].outputs).f + rouge(kind, outputs[1], samples[1].outputs).f) / 2;
    EXPECT_NEAR(job.metrics[i].measure(outputs, samples), 100 * mean, 1e-9);
    EXPECT_EQ(score_of_all(job.metrics[i].by_samples(outputs, samples), 2), job.metrics[i].measure(outputs, samples));
  }
}

TEST(SummaryReport, BaselinesComeFromTheText) {
  const std::string text = "A dog barks. The cat sat on the mat! It rained.";
  EXPECT_EQ(first_words(text, 4), "A dog barks. The");
  EXPECT_EQ(first_words("two words", 4), "two words");
  EXPECT_EQ(first_sentence(text), "A dog barks.");
  EXPECT_EQ(first_sentence(""), "");
  EXPECT_EQ(best_sentence(text, Texts{"nothing alike", "a cat on a mat"}), "The cat sat on the mat!");
  EXPECT_EQ(best_sentence(text, Texts{"xyz"}), "A dog barks.");
}

TEST(SummaryReport, SetsTheModelBesideTheBaselines) {
  const Texts outputs{"the cat is on the mat", "a dog"};
  const std::vector<Sample> samples{
      sample_of({"there is a cat , and it is on the mat . it sleeps ."}, {"the cat sat on the mat", "is on the mat"}),
      sample_of({"a dog runs . all day ."}, {"the dog runs"})};
  // Of 8 words "the cat" is a new pair, as is "cat is"; the fragments are the, cat, "is on the mat" and "a dog".
  const std::string report = summary_report(outputs, samples);
  const std::string expected =
      "P/R/F in percent           ROUGE-1           ROUGE-2           ROUGE-L       75 bytes, R   new words  bigrams   "
      "copied\n"
      "the model           66.7/58.3/61.7    30.0/50.0/37.5    66.7/58.3/61.7    58.3/50.0/58.3         0.0     33.3   "
      " "
      "100.0\n"
      "first 4 words ";
  EXPECT_EQ(report.substr(0, expected.size()), expected);
  for (const char* row : {"\nfirst sentence ", "\nbest sentence ", "\nthe reference    100.0/100.0/100.0 "})
    EXPECT_NE(report.find(row), std::string::npos) << row << report;
}

}  // namespace
}  // namespace heed::test
