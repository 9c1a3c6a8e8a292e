#pragma once

#include "heed/jobs/job.h"
#include "heed/metrics/classification.h"

// Metrics that several jobs have.

namespace heed {

// A metric of texts (metrics/text_metrics.h) against the samples' outputs.
Metric text_metric(const std::string& name);
Metric bleu_metric();
Metric chrf_metric();
// Of labels, in percent: the share that is right, and the F1 of all labels, each label weighing the same (macro) or
// each sample (micro).
Metric accuracy_metric();
Metric macro_f1_metric();
Metric micro_f1_metric();

// The right label of each sample and the label that was given.
LabelPairs label_pairs(std::span<const std::string> outputs, std::span<const Sample> samples);
// The `report` of a job that gives labels: scikit-learn's table of precision, recall and F1.
std::string label_report(std::span<const std::string> outputs, std::span<const Sample> samples);

}  // namespace heed
