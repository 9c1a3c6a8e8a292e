#pragma once

#include <map>
#include <mutex>

#include "heed/base/thread_pool.h"
#include "heed/data/sample_batches.h"
#include "heed/jobs/bundle.h"
#include "heed/jobs/reward_loss.h"
#include "heed/jobs/training_options.h"

namespace heed {

// Any job for the training loop: batches of samples, their loss, validation. Each rank assembles only the part of every
// batch that its shards are, and computes its share of the validation.
class JobTask final : public TrainingTask {
 public:
  JobTask(const Bundle& bundle, const Training& training, std::shared_ptr<Ranks> ranks = std::make_shared<Ranks>());

  Batch next() override;
  const char* unit() const override { return bundle_.chooser || reward_ ? "samples" : "words"; }
  // What a reward says of the model's own texts, where one was asked for. Else cross-entropy with label smoothing, the
  // model's own penalty, and guided alignment where there are alignments. The batch is cut between samples.
  Var loss(Index shard, Index shards, Random& random) const override;
  TrainingState position() const override;
  void seek(const TrainingState& position) override;
  std::vector<ValidationScore> validate() override;

  // What was found in the files.
  const SampleReport& training_report() const { return batches_.report(); }
  const SampleReport& validation_report() const { return validation_report_; }
  // A sample of the validation that is good to show: neither very short nor very long; none without validation.
  std::vector<std::string> example() const;
  // Whether every sample of the validation came with choices of its own.
  bool choices_given() const;

 private:
  BatchOptions training_data();
  Var writer_loss(Index shard, Index begin, Index end, Random& random) const;
  Var chooser_loss(Index begin, Index end, Random& random) const;
  Var reward_loss(Index shard, Index begin, Index end, Random& random) const;
  void keep_positions(Index shard, const Reward& reward) const;
  // Of the batch that follows this one: b ← 0.9 b + 0.1 log p of a word (Xu et al. 2015), from the first batch's mean
  // on; nothing where no positions were sampled yet.
  std::vector<Reward> rewards_of_ranks() const;
  std::optional<double> moved_baseline() const;
  double cross_entropy_of_validation();
  std::vector<std::string> outputs_of_validation();
  std::vector<std::string> outputs_of(std::span<const Sample* const> samples);

  const Bundle& bundle_;
  Training training_;
  std::shared_ptr<Ranks> ranks_;
  std::vector<std::vector<std::string>> references_;  // of the training's samples, until the reward is made
  std::unique_ptr<RewardLoss> reward_;
  SampleBatches batches_;
  SampleBatch batch_;
  std::optional<double> baseline_;
  mutable std::mutex mutex_;                            // guards what follows
  mutable std::map<Index, Reward> rewards_;             // of the batch, by shard
  std::vector<std::vector<EncodedSample>> validation_;  // by batches
  SampleReport validation_report_;
  std::vector<Sample> validation_samples_;  // all of them, for the metrics that look at outputs
  ThreadPool threads_;
};

}  // namespace heed
