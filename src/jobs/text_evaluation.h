#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/jobs/runner.h"
#include "heed/metrics/aer.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/bootstrap.h"
#include "heed/metrics/by_length.h"
#include "heed/metrics/text_metrics.h"

namespace heed {

// Texts that models or others wrote, against right ones: BLEU and chrF, significance, by length, or other metrics with
// their intervals; and word alignments.
struct TextEvaluationOptions {
  std::vector<std::string> outputs, models, references, names, alignments;  // files; of models folders
  std::string source, gold;
  Index bucket = 10, gold_first = 0, alignment_first = 0, draws = 1000;
  std::vector<std::string> metrics;  // of metrics/text_metrics.h; none: BLEU and chrF in all their parts
  BleuOptions bleu;
  ChrfOptions chrf;
  RougeOptions rouge;
  bool fold_phones = false;
  bool significance = false;
  RunOptions run;
  RunSettings settings;
  int threads = 0;
};

// What only a model itself can tell.
struct EvaluatedModel {
  double perplexity = 0;  // per piece of the references
  double samples_per_second = 0, words_per_second = 0;
};

// By one of the metrics that were asked for.
struct MeasuredTexts {
  ScoreOfSamples score;
  double of_all = 0;
  std::optional<ScoreInterval> interval;         // unless no draws are wanted
  std::optional<PairedBootstrap> against_first;  // of all systems but the first
};

struct EvaluatedTexts {
  std::string name;
  std::vector<BleuCounts> sentences;
  Bleu bleu;
  double chrf = 0;
  std::vector<LengthBucket> by_length;           // with a source
  std::optional<PairedBootstrap> against_first;  // of all but the first
  std::optional<EvaluatedModel> model;
  std::vector<MeasuredTexts> measured;  // by each of the evaluation's metrics
};

struct EvaluatedAlignment {
  std::string name;
  AlignmentCounts counts;
};

struct TextEvaluation {
  std::string bleu_signature, chrf_signature, chrf_name;
  Index draws = 0;
  bool significance = false;
  std::vector<TextMetric> metrics = {};      // that were asked for
  std::vector<std::string> signatures = {};  // of each of them
  std::vector<EvaluatedTexts> systems;
  std::vector<EvaluatedAlignment> alignments;

  std::string text() const;  // tables for people
  std::string json() const;
  std::string draw_by_length() const;  // SVG
};

// Contradictions among the options, files of unequal length and empty ones are Errors. `version` ends the signatures,
// `warn` takes what a person should know.
TextEvaluation evaluate_texts(const TextEvaluationOptions& options, const std::string& version,
                              const Runner::Warn& warn);

}  // namespace heed
