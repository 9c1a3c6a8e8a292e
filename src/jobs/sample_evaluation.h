#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/jobs/quality.h"
#include "heed/jobs/rationales.h"
#include "heed/jobs/set_trust.h"
#include "heed/metrics/bootstrap.h"
#include "heed/metrics/classification.h"

namespace heed {

// Models on samples, by the metrics of their job.
struct SampleEvaluationOptions {
  std::vector<std::string> models;                   // folders
  std::function<SampleFiles(const Job& job)> files;  // the samples
  std::string gold = {};                             // right alignments; may be empty
  Index gold_first = 0;                              // what their first word is counted as
  UnknownLabels unknown_labels = UnknownLabels::refuse;
  Index draws = 1000;               // of the intervals and of the test; 0: no intervals
  bool confusion = false;           // it will be drawn: the only model gives labels
  bool significance = false;        // each model is tested against the first
  bool results = false;             // the outputs of the only model are wanted as Job::results writes them
  std::string annotations = {};     // ERASER's, which the samples are: what decides is compared with what people say
  std::string features = {};        // file that keeps features of images and sounds for other evaluations too
  std::optional<Index> trust = {};  // of so many samples (0: all) it is measured whether the weights are the reason
  RunOptions run = {};
  RunSettings settings = {};
  int threads = 0;
};

struct EvaluatedSamples {
  std::string name;  // of the model
  const Job* job = nullptr;
  std::size_t samples = 0;
  Quality quality = {};
  struct Resampled {
    const Metric* metric;
    ScoreOfSamples score;
    std::optional<ScoreInterval> interval;         // unless no draws are wanted
    std::optional<PairedBootstrap> against_first;  // of all but the first
  };
  std::vector<Resampled> resampled = {};      // metrics that have intervals
  std::string report = {};                    // of the job; may be empty
  LabelPairs labels = {};                     // of a job that gives labels
  std::string results = {};                   // where they were asked for
  std::optional<Rationales> rationales = {};  // where there are annotations
  std::optional<SetTrust> trust = {};         // where it was asked for
};

struct SampleEvaluation {
  std::vector<EvaluatedSamples> models;
  Index draws = 0;

  std::string text() const;  // tables for people
  std::string json() const;
  // Which labels are taken for which, as SVG, where `confusion` was asked for.
  std::string draw_confusion() const;
};

// Contradictions among the options, and samples that cannot be read, are Errors. `warn` takes what a person should
// know.
SampleEvaluation evaluate_samples(const SampleEvaluationOptions& options, const Runner::Warn& warn);

}  // namespace heed
