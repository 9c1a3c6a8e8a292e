#pragma once

#include "heed/data/pairs.h"
#include "heed/jobs/translation_folder.h"
#include "heed/jobs/translation_options.h"
#include "heed/base/thread_pool.h"

namespace heed {

// Translation for the training loop: batches of sentence pairs, their loss, validation.
class TranslationTask final : public TrainingTask {
 public:
  TranslationTask(const TranslationBundle& bundle, const TranslationTraining& training);

  Batch next() override;
  // Cross-entropy with label smoothing, the model's own penalty, and guided alignment where there are alignments. The
  // batch is cut between sentences.
  Var loss(Index shard, Index shards, Random& random) const override;
  TrainingState position() const override;
  void seek(const TrainingState& position) override;
  std::vector<ValidationScore> validate() override;

  // What was found in the files.
  const PairReport& training_report() const { return batches_.report(); }
  const PairReport& validation_report() const { return validation_report_; }

 private:
  double cross_entropy_of_validation();
  std::vector<std::string> translations_of_validation();

  const TranslationBundle& bundle_;
  TranslationTraining training_;
  PairBatches batches_;
  PairBatch batch_;
  std::vector<PairBatch> validation_;
  PairReport validation_report_;
  std::vector<std::vector<std::int32_t>> validation_sources_;  // of every line, for the metrics that look at text
  std::vector<std::vector<std::string>> references_;
  ThreadPool threads_;
};

}  // namespace heed
