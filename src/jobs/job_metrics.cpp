#include "heed/jobs/job_metrics.h"

#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"

namespace heed {
namespace {

std::vector<std::vector<std::string>> references_of(std::span<const Sample> samples) {
  std::vector<std::vector<std::string>> references;
  for (const Sample& sample : samples) references.push_back(sample.outputs);
  return references;
}

}  // namespace

Metric bleu_metric() {
  return {.name = "bleu", .title = "BLEU", .measure = [](auto outputs, auto samples) {
            return corpus_bleu(outputs, references_of(samples)).score;
          }};
}

Metric chrf_metric() {
  return {.name = "chrf", .title = "chrF", .measure = [](auto outputs, auto samples) {
            return corpus_chrf(outputs, references_of(samples));
          }};
}

Metric accuracy_metric() {
  return {.name = "accuracy", .title = "accuracy", .measure = [](auto outputs, auto samples) {
            std::size_t right = 0;
            for (std::size_t i = 0; i < outputs.size(); ++i) right += outputs[i] == samples[i].outputs.front() ? 1 : 0;
            return 100 * static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(outputs.size(), 1));
          }};
}

}  // namespace heed
