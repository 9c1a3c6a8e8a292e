#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "heed/store/checkpoint.h"
#include "heed/train/average.h"
#include "heed/train/optimiser.h"
#include "heed/train/schedule.h"
#include "heed/train/training_log.h"
#include "heed/train/workers.h"

namespace heed {

// What is trained, as the loop sees it: batches, the loss of a piece of one, and how good the model is.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  struct Batch {
    Index epoch = 0;  // the pass over the data that it belongs to, from 0
    Index words = 0;  // what the loss is a mean over: words, or whatever the task calls them
  };
  // Draws the next batch, which `loss` is about until the next call.
  virtual Batch next() = 0;
  // What the progress counts per second.
  virtual const char* unit() const { return "words"; }
  // The loss of one shard of the batch, summed over its words; an empty Var if the shard has nothing. Called from
  // several threads at once.
  virtual Var loss(Index shard, Index shards, Random& random) const = 0;
  // After seek(p), next() gives what it would have given when position() was p. All ranks ask for it together.
  virtual TrainingState position() const = 0;
  virtual void seek(const TrainingState& position) = 0;
  // Values on data that is not trained on; none if there is no such data.
  virtual std::vector<ValidationScore> validate() = 0;
};

// How often something happens: every so many updates, or passes over the data, or never.
struct Every {
  Index steps = 0, epochs = 0;
};

struct LoopOptions {
  OptimiserOptions optimiser;
  WorkersOptions workers;
  Index delay = 1;          // batches per update; the gradient is that of the mean over all their words
  double clip_norm = 0;     // 0: not clipped
  double max_norm = 0;      // of each unit's incoming weights, held after every update; 0: any
  double weight_noise = 0;  // deviation of what is added to the weights while gradients are computed; 0: nothing
  double smoothing = 0;     // decay of the averaged weights, which are validated and kept; 0: none
  Every validate, save;     // save: checkpoints
  Index show = 100;         // updates between log lines
  std::string metric;       // the score that tells which weights are best; empty: the first
  Index patience = 0;       // stop after so many validations in a row without a better score; 0: never
  Index steps = 0;          // stop after so many updates, 0: no limit;
  Index epochs = 0;         // or passes over the data;
  double minutes = 0;       // or minutes, over all runs
};

// Where the loop leaves what it makes. Both write files, and their errors (a full disk) end the run.
struct LoopFiles {
  std::function<void(const Checkpoint&)> save;
  std::function<void()> keep;  // the parameters are at this moment the best so far (averaged, if averages are kept)
  // If there is one, it is called by another thread as soon as a signal comes, and gets the checkpoint of the last
  // whole step: a launcher kills a second after its SIGTERM, and a step may take longer. It does not throw.
  std::function<void(const Checkpoint&)> rescue = {};
};

enum class LoopEnd { steps, epochs, minutes, patience, signal };
struct LoopResult {
  LoopEnd end;
  int signal = 0;  // which
  Index step = 0;
  std::optional<double> best;  // of the metric
};

// Trains: draws batches, updates the parameters, validates, keeps the best weights, saves checkpoints, and stops at a
// limit, when nothing improves, or at the end of the step in which a SIGINT, SIGTERM or SIGHUP comes. A run that is
// resumed from a checkpoint goes on bit-identically to one that was never stopped, and for any number of threads and
// ranks. All ranks have the same parameters at every moment; files are the caller's business on each of them.
class TrainingLoop {
 public:
  TrainingLoop(Parameters& parameters, TrainingTask& task, SchedulePointer schedule, LoopOptions options,
               std::shared_ptr<Ranks> ranks = std::make_shared<Ranks>());

  void resume(const Checkpoint& checkpoint);
  Index step() const { return step_; }
  // A loss or gradient that is not finite is an Error that names the op it came from. The parameters are then as before
  // that step, and nothing is saved.
  LoopResult run(const LoopFiles& files, TrainingLog& log);

 private:
  struct Run;  // what lives as long as one call of run
  void look_for_an_end(Run& run) const;
  std::optional<LoopEnd> limit(const Run& run) const;
  bool begin_epoch(Run& run, Index epoch);
  void update(Run& run, const TrainingTask::Batch& first, const TrainingState& before);
  void show(Run& run, double rate, double norm);
  void validate(Run& run, bool counts);
  void save(Run& run);
  void finish(Run& run);
  [[noreturn]] void explain_numbers(double loss, double norm, const TrainingState& before);
  Workers::Result run_batch(Index part);
  Checkpoint checkpoint(double seconds, const TrainingState& position) const;
  void rescue(Run& run, const std::stop_token& stop) const;
  bool better(const ValidationScore& score) const;

  Parameters& parameters_;
  TrainingTask& task_;
  SchedulePointer schedule_;
  LoopOptions options_;
  std::shared_ptr<Ranks> ranks_;
  Optimiser optimiser_;
  Workers workers_;
  std::optional<WeightAverage> average_;

  // All of this is in the checkpoint.
  Index step_ = 0, epoch_ = 0;
  Index validated_ = -1;  // the step of the last validation; -1: none yet
  Index stalled_ = 0;     // validations in a row without a better score
  std::optional<double> best_;
  double seconds_ = 0;     // of the runs before this one
  double shown_loss_ = 0;  // sum since the last log line,
  Index shown_words_ = 0;  // over so many words
};

}  // namespace heed
