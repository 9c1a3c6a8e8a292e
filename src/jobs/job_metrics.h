#pragma once

#include "heed/jobs/job.h"

// Metrics that several jobs have.

namespace heed {

Metric bleu_metric();
Metric chrf_metric();
// The share of labels that are right, in percent.
Metric accuracy_metric();

}  // namespace heed
