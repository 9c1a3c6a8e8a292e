#include "heed/train/loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "heed/base/spelling.h"
#include "heed/train/clip.h"
#include "heed/train/constraints.h"
#include "heed/train/stop_signals.h"

namespace heed {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool due(Index every, Index count) { return every > 0 && count % every == 0; }

class CheckNumbers {
 public:
  CheckNumbers() { check_numbers(true); }
  ~CheckNumbers() { check_numbers(false); }
  CheckNumbers(const CheckNumbers&) = delete;
  CheckNumbers& operator=(const CheckNumbers&) = delete;
};

TrainingState state_of(const Parameters& parameters) {
  TrainingState state;
  for (const Parameters::Entry& entry : parameters.entries()) state.tensors.push_back({entry.name, entry.var.value()});
  return state;
}

void load_state(Parameters& parameters, const TrainingState& state) {
  require(state.tensors.size() == parameters.entries().size(), "[train] the checkpoint has {} parameters, the model {}",
          state.tensors.size(), parameters.entries().size());
  for (const Parameters::Entry& entry : parameters.entries()) {
    const Shape found = state.tensor(entry.name, "train").shape();
    require(found == entry.var.shape(), "[train] parameter {} is {} in the checkpoint and {} in the model", entry.name,
            found, entry.var.shape());
  }
  for (Parameters::Entry& entry : parameters.entries())
    std::copy_n(state.tensor(entry.name, "train").data(), entry.var.size(), entry.var.value().data());
}

Index count_of(const TrainingState& state, const char* name) { return static_cast<Index>(state.number(name, "train")); }

}  // namespace

struct TrainingLoop::Run {
  const LoopFiles& files;
  TrainingLog& log;
  const StopSignals signals{};
  const double began = now();
  double shown_at = began;  // the time of the last log line,
  Index words_at = 0;       // and the words of the run until then
  Index words = 0;          // of this run
  bool save_due = false;    // at the end of the step
  double waited = 0;        // for other ranks, before this run
  // As all ranks see them: the signal that came to one of them, and whether the time of the first is over.
  int signal = 0;
  bool time_is_over = false;
  std::mutex files_and_weights{};          // held by whoever writes the former or changes the latter
  const TrainingState* resting = nullptr;  // where the data stand that belong to the weights, while nobody changes them
};

namespace {

// Marks the time in which gradients are computed and nothing else changes.
class Resting {
 public:
  Resting(std::mutex& mutex, const TrainingState*& place, const TrainingState* position)
      : mutex_(mutex), place_(place) {
    const std::lock_guard lock(mutex_);
    place_ = position;
  }
  ~Resting() {
    const std::lock_guard lock(mutex_);
    place_ = nullptr;
  }
  Resting(const Resting&) = delete;
  Resting& operator=(const Resting&) = delete;

 private:
  std::mutex& mutex_;
  const TrainingState*& place_;
};

}  // namespace

TrainingLoop::TrainingLoop(Parameters& parameters, TrainingTask& task, SchedulePointer schedule, LoopOptions options,
                           std::shared_ptr<Ranks> ranks)
    : parameters_(parameters),
      task_(task),
      schedule_(std::move(schedule)),
      options_(std::move(options)),
      ranks_(std::move(ranks)),
      optimiser_(options_.optimiser),
      workers_(options_.workers, ranks_) {
  require(options_.delay >= 1, "[train] an update takes at least 1 batch, not {}", options_.delay);
  require(options_.clip_norm >= 0, "[train] the norm to clip at must be 0 or more, not {}", options_.clip_norm);
  require(options_.max_norm >= 0, "[train] the largest norm of weights must be 0 or more, not {}", options_.max_norm);
  require(options_.weight_noise >= 0, "[train] the weights' noise must be 0 or more, not {}", options_.weight_noise);
  require(options_.show >= 1, "[train] log lines are at least 1 update apart, not {}", options_.show);
  if (options_.smoothing != 0) average_.emplace(parameters_, options_.smoothing);
}

LoopResult TrainingLoop::run(const LoopFiles& files, TrainingLog& log) {
  Run run{files, log};
  run.waited = ranks_->waited();
  std::jthread rescuer;
  if (files.rescue) rescuer = std::jthread([&](const std::stop_token& stop) { rescue(run, stop); });
  LoopEnd end = LoopEnd::signal;
  for (look_for_an_end(run); run.signal == 0; look_for_an_end(run)) {
    if (const auto reached = limit(run)) {
      end = *reached;
      break;
    }
    const TrainingState before = task_.position();
    const TrainingTask::Batch batch = task_.next();
    const bool last_epoch_done = options_.epochs > 0 && batch.epoch >= options_.epochs;
    if (last_epoch_done || (batch.epoch > epoch_ && !begin_epoch(run, batch.epoch))) {
      task_.seek(before);  // the batch belongs to a later run
      end = last_epoch_done ? LoopEnd::epochs : LoopEnd::patience;
      break;
    }
    update(run, batch, before);
    if (due(options_.validate.steps, step_)) validate(run, true);
    if (run.save_due || due(options_.save.steps, step_)) save(run);
  }
  if (end == LoopEnd::signal) {
    save(run);
  } else {
    finish(run);
  }
  log.finish();
  return {end, run.signal, step_, best_};
}

// Signals and clocks are each rank's own, and an end is everybody's.
void TrainingLoop::look_for_an_end(Run& run) const {
  struct Seen {
    int signal;
    bool time_is_over;
  };
  const bool over = options_.minutes > 0 && seconds_ + now() - run.began >= 60 * options_.minutes;
  const Seen own{run.signals.caught(), over};
  const std::vector<Seen> all = ranks_->gather_equal(std::span(&own, 1));
  run.time_is_over = all.front().time_is_over;
  for (const Seen& seen : all)
    if (run.signal == 0) run.signal = seen.signal;
}

std::optional<LoopEnd> TrainingLoop::limit(const Run& run) const {
  if (options_.steps > 0 && step_ >= options_.steps) return LoopEnd::steps;
  if (options_.patience > 0 && stalled_ >= options_.patience) return LoopEnd::patience;
  if (run.time_is_over) return LoopEnd::minutes;
  return std::nullopt;
}

// What is done between two passes over the data; false if training ends there. The first batch of the new pass is
// already drawn, so a checkpoint waits until it is used.
bool TrainingLoop::begin_epoch(Run& run, Index epoch) {
  epoch_ = epoch;
  if (options_.epochs > 0) run.log.expect(step_ * options_.epochs / epoch);  // passes are about equally long
  if (due(options_.save.epochs, epoch)) run.save_due = true;
  if (due(options_.validate.epochs, epoch) && validated_ != step_) validate(run, true);
  return options_.patience == 0 || stalled_ < options_.patience;
}

Workers::Result TrainingLoop::run_batch(Index part) {
  const Index number = step_ * options_.delay + part;
  const RandomKey key{options_.workers.seed, static_cast<std::uint64_t>(number)};
  const WeightNoise noise(parameters_, options_.weight_noise, key.derive("weight-noise"));
  return workers_.run(parameters_, number,
                      [this](Index shard, Random& random) { return task_.loss(shard, workers_.shards(), random); });
}

void TrainingLoop::update(Run& run, const TrainingTask::Batch& first, const TrainingState& before) {
  Gradients gradients;
  double loss = 0;
  Index words = 0;
  // Noise is in the weights while gradients are computed.
  std::optional<Resting> resting;
  if (options_.weight_noise == 0) resting.emplace(run.files_and_weights, run.resting, &before);
  for (Index part = 0; part < options_.delay; ++part) {
    words += part == 0 ? first.words : task_.next().words;
    Workers::Result result = run_batch(part);
    loss += result.loss;
    if (options_.delay == 1) {
      gradients = std::move(result.gradients);
      continue;
    }
    for (const Parameters::Entry& entry : parameters_.entries())
      if (Gradient* gradient = result.gradients.find(entry.var)) gradients.add(entry.var, std::move(*gradient));
  }
  resting.reset();
  require(words > 0, "[train] the batch of step {} has no words", step_ + 1);

  // The gradients are of the sum over the words; what counts is their mean.
  const double norm = global_norm(gradients, parameters_) / static_cast<double>(words);
  if (!std::isfinite(loss) || !std::isfinite(norm)) ranks_->together([&] { explain_numbers(loss, norm, before); });
  const Real clip = options_.clip_norm > 0 ? clip_factor(norm, options_.clip_norm) : Real{1};
  const Real rate = schedule_->rate(step_ + 1);
  optimiser_.step(parameters_, gradients, rate, clip / static_cast<Real>(words));
  if (options_.max_norm > 0) limit_column_norms(parameters_, options_.max_norm);
  if (average_) average_->update(parameters_);

  ++step_;
  shown_loss_ += loss;
  shown_words_ += words;
  run.words += words;
  show(run, static_cast<double>(rate), norm);
}

void TrainingLoop::show(Run& run, double rate, double norm) {
  const double time = now(), loss = shown_loss_ / static_cast<double>(shown_words_);
  const double speed = static_cast<double>(run.words) / std::max(time - run.began, 1e-9);
  std::string text = fmt::format("epoch {}, loss {:.3f}, {:.0f} {}/s", epoch_ + 1, loss, speed, task_.unit());
  std::optional<double> waiting;
  if (!ranks_->alone()) {
    waiting = (ranks_->waited() - run.waited) / std::max(time - run.began, 1e-9);
    text += fmt::format(" on {} ranks, {:.0f} % waiting", ranks_->size(), 100 * *waiting);
  }
  run.log.update(step_, text);
  if (!due(options_.show, step_)) return;
  const double lately = static_cast<double>(run.words - run.words_at) / std::max(time - run.shown_at, 1e-9);
  run.log.steps({step_, epoch_, loss, rate, norm, shown_words_, lately, seconds_ + time - run.began, waiting});
  run.shown_at = time;
  run.words_at = run.words;
  shown_loss_ = 0;
  shown_words_ = 0;
}

// The batches of the step once more, with every op looking at its numbers.
void TrainingLoop::explain_numbers(double loss, double norm, const TrainingState& before) {
  std::string reason = "no op shows it when the step is repeated";
  try {
    const CheckNumbers on;
    task_.seek(before);
    for (Index part = 0; part < options_.delay; ++part) {
      task_.next();
      run_batch(part);
    }
  } catch (const Error& error) {
    reason = error.what();
  }
  const bool in_loss = !std::isfinite(loss);
  fail(
      "[train] the {} of step {} is {}: {}; training stops and the last checkpoint stays. A lower learning rate or "
      "clipping may help.",
      in_loss ? "loss" : "gradient norm", step_ + 1, std::isnan(in_loss ? loss : norm) ? "not a number" : "infinite",
      reason);
}

bool TrainingLoop::better(const ValidationScore& score) const {
  if (std::isnan(score.value)) return false;
  return !best_ || (score.higher_is_better ? score.value > *best_ : score.value < *best_);
}

// A validation that does not count (an extra one at the end of a run) neither moves the schedule nor the patience: the
// next run goes on as if this one had not ended.
void TrainingLoop::validate(Run& run, bool counts) {
  if (average_) average_->apply(parameters_);
  const std::vector<ValidationScore> scores = task_.validate();
  if (!scores.empty()) {
    auto deciding = scores.begin();
    if (!options_.metric.empty()) {
      const auto chosen = [this](const ValidationScore& score) { return score.name == options_.metric; };
      deciding = std::find_if(scores.begin(), scores.end(), chosen);
      std::vector<std::string> known;
      known.reserve(scores.size());
      for (const ValidationScore& score : scores) known.push_back(score.name);
      require(deciding != scores.end(), "[train] there is no score {}{}", options_.metric,
              did_you_mean(options_.metric, known));
    }
    const bool best = better(*deciding);
    if (best) {
      best_ = deciding->value;
      run.files.keep();
    }
    if (counts) {
      stalled_ = best ? 0 : stalled_ + 1;
      schedule_->observe(deciding->value);
    }
    run.log.scores(step_, epoch_, scores, best);
  }
  if (average_) average_->restore(parameters_);
  validated_ = step_;
}

void TrainingLoop::save(Run& run) {
  if (!best_) {  // never validated: the newest weights are the model
    if (average_) average_->apply(parameters_);
    run.files.keep();
    if (average_) average_->restore(parameters_);
  }
  const std::lock_guard lock(run.files_and_weights);
  run.files.save(checkpoint(seconds_ + now() - run.began, task_.position()));
  run.save_due = false;
}

// Waits for a signal, and then for a moment in which the weights are those of a whole step.
void TrainingLoop::rescue(Run& run, const std::stop_token& stop) const {
  for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    if (run.signals.caught() == 0) continue;
    const std::lock_guard lock(run.files_and_weights);
    if (run.resting == nullptr) continue;
    return run.files.rescue(checkpoint(seconds_ + now() - run.began, *run.resting));
  }
}

void TrainingLoop::finish(Run& run) {
  if (validated_ != step_) validate(run, false);
  save(run);
}

Checkpoint TrainingLoop::checkpoint(double seconds, const TrainingState& position) const {
  Checkpoint all;
  all["parameters"] = state_of(parameters_);
  all["optimiser"] = optimiser_.state();
  all["schedule"] = schedule_->state();
  if (average_) all["average"] = average_->state();
  all["data"] = position;
  std::vector<NamedNumber>& loop = all["loop"].numbers;
  const auto keep = [&loop](const char* name, double number) { loop.push_back({name, number}); };
  keep("step", static_cast<double>(step_));
  keep("epoch", static_cast<double>(epoch_));
  keep("validated", static_cast<double>(validated_));
  keep("stalled", static_cast<double>(stalled_));
  if (best_) keep("best", *best_);
  keep("seconds", seconds);
  keep("shown_loss", shown_loss_);
  keep("shown_words", static_cast<double>(shown_words_));
  return all;
}

void TrainingLoop::resume(const Checkpoint& checkpoint) {
  const TrainingState& loop = part_of(checkpoint, "loop");
  load_state(parameters_, part_of(checkpoint, "parameters"));
  optimiser_.load_state(parameters_, part_of(checkpoint, "optimiser"));
  schedule_->load_state(part_of(checkpoint, "schedule"));
  if (average_) average_->load_state(part_of(checkpoint, "average"));
  task_.seek(part_of(checkpoint, "data"));
  step_ = count_of(loop, "step");
  epoch_ = count_of(loop, "epoch");
  validated_ = count_of(loop, "validated");
  stalled_ = count_of(loop, "stalled");
  best_.reset();
  for (const NamedNumber& each : loop.numbers)
    if (each.name == "best") best_ = each.number;
  seconds_ = loop.number("seconds", "train");
  shown_loss_ = loop.number("shown_loss", "train");
  shown_words_ = count_of(loop, "shown_words");
}

}  // namespace heed
