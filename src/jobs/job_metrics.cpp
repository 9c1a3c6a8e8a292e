#include "heed/jobs/job_metrics.h"

#include "heed/metrics/text_metrics.h"

namespace heed {
namespace {

// A metric that can be asked for any choice of the samples, and so for all of them.
Metric metric_by_samples(std::string name, std::string title, decltype(Metric::by_samples) by_samples) {
  Metric metric{.name = std::move(name), .title = std::move(title), .measure = {}, .by_samples = by_samples};
  metric.measure = [by_samples = std::move(by_samples)](auto outputs, auto samples) {
    return score_of_all(by_samples(outputs, samples), outputs.size());
  };
  return metric;
}

// A metric of labels by their counts in a choice of samples; labels that are not in it do not count.
Metric label_metric(std::string name, std::string title, double (*score)(std::span<const LabelCounts>)) {
  return metric_by_samples(std::move(name), std::move(title), [score](auto outputs, auto samples) -> ScoreOfSamples {
    return [score, pairs = label_pairs(outputs, samples)](std::span<const std::size_t> chosen) {
      std::vector<LabelCounts> counts = label_counts(pairs, chosen);
      std::erase_if(counts, [](const LabelCounts& each) { return each.given + each.support == 0; });
      return 100 * score(counts);
    };
  });
}

}  // namespace

Metric text_metric(const std::string& name) {
  TextMetric given = text_metric_named(name);
  Metric metric = metric_by_samples(given.name, given.title,
                                    [by_samples = std::move(given.by_samples)](auto outputs, auto samples) {
                                      std::vector<std::vector<std::string>> references;
                                      for (const Sample& sample : samples) references.push_back(sample.outputs);
                                      return by_samples(outputs, references);
                                    });
  metric.higher_is_better = given.higher_is_better;
  metric.digits = given.digits;
  return metric;
}

Metric bleu_metric() { return text_metric("bleu"); }
Metric chrf_metric() { return text_metric("chrf"); }

Metric accuracy_metric() {
  // Every sample gives one label and has one that is right, so that what is right of all is the micro average.
  return label_metric("accuracy", "accuracy", [](auto counts) { return micro_average(counts).recall; });
}

Metric macro_f1_metric() {
  return label_metric("macro-f1", "macro-F1", [](auto counts) { return macro_average(counts).f1; });
}

Metric micro_f1_metric() {
  return label_metric("micro-f1", "micro-F1", [](auto counts) { return micro_average(counts).f1; });
}

LabelPairs label_pairs(std::span<const std::string> outputs, std::span<const Sample> samples) {
  std::vector<std::string> right;
  for (const Sample& sample : samples) right.push_back(sample.outputs.front());
  return pair_labels(right, outputs);
}

std::string label_report(std::span<const std::string> outputs, std::span<const Sample> samples) {
  return classification_report(label_pairs(outputs, samples));
}

}  // namespace heed
