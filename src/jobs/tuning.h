#pragma once

#include <functional>
#include <span>
#include <string>

#include "heed/jobs/reranking.h"
#include "heed/jobs/runner.h"
#include "heed/store/model_folder.h"

namespace heed {

// Weights that are found on samples whose outputs are known and kept in the model's folder: those of a summariser's
// extractive features (search/extractive.h) in extractive.json, those that choose among a reader's answers anew
// (jobs/reranking.h) in reranking.ngrams.

struct TuningOptions {
  RunOptions run = {};
  Index best = 20;   // hypotheses of each sample, as many as the beam is wide
  Index rounds = 4;  // searches with the weights so far; their hypotheses are added to those before
  int threads = 0;
};

struct Tuned {
  ExtractiveValues weights = {};
  double before = 0, after = 0;  // mean of the F of ROUGE-1, 2 and L of what the weights choose, in percent
};

// Begins with no weights at all. `say` is told of every round.
Tuned tune_extractive(const std::filesystem::path& folder, std::span<const Sample> samples,
                      const TuningOptions& options, const std::function<void(const std::string&)>& say);

struct TunedReranking {
  Reranking reranking;  // with the weights that were found
  // In percent of the samples: the reader's best answer is right, that of the weights, any of the N best.
  double before = 0, after = 0, possible = 0;
};

// `documents` are those of the training; samples of the validation are best, which these models have not seen.
TunedReranking tune_reranking(const std::filesystem::path& folder, std::span<const Sample> samples,
                              std::span<const std::string> documents, const RerankingOptions& options, int threads,
                              const std::function<void(const std::string&)>& say);

void write_extractive(const ModelFolder& folder, const ExtractiveValues& weights);
// All 0 where there are none; an Error if the file is damaged.
ExtractiveValues read_extractive(const ModelFolder& folder);

}  // namespace heed
