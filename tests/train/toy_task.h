#pragma once

#include <cmath>
#include <limits>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/train/loop.h"

namespace heed::test {

// A line through noisy points, y = W x: small enough for thousands of steps a second, with everything the loop has to
// carry over: random numbers in the loss, batches by position, passes of five batches.
class ToyTask final : public TrainingTask {
 public:
  static constexpr Index kBatches = 5, kRows = 8, kWidth = 3;

  ToyTask() : weight_(parameters.add("weight", Shape{kWidth, 1}, init::normal(1))) {}

  Batch next() override {
    const Batch batch{drawn_ / kBatches, kRows};
    RandomSequence numbers(RandomKey{7, static_cast<std::uint64_t>(drawn_)});
    points_ = Tensor(Shape{kRows, kWidth});
    values_ = Tensor(Shape{kRows, 1});
    for (Real& x : points_.values()) x = static_cast<Real>(numbers.normal());
    for (Index row = 0; row < kRows; ++row) {
      const Real* x = points_.data() + row * kWidth;
      values_.data()[row] = 2 * x[0] - x[1] + Real{0.5F} * x[2];
    }
    ++drawn_;
    broken_ = drawn_ == break_at;
    return batch;
  }
  Var loss(Index shard, Index shards, Random& random) const override {
    const Index begin = kRows * shard / shards, end = kRows * (shard + 1) / shards;
    if (begin == end) return {};
    const Var noise(Tensor::scalar(static_cast<Real>(0.1 * RandomSequence(random.next()).normal())));
    Var error = matmul(Var(points_.slice(0, begin, end).contiguous()), weight_) -
                Var(values_.slice(0, begin, end).contiguous()) + noise;
    if (broken_) error = sqrt(negate(square(error)));
    return sum(square(error));
  }
  TrainingState position() const override { return {{}, {{"drawn", static_cast<double>(drawn_)}}}; }
  void seek(const TrainingState& position) override { drawn_ = static_cast<Index>(position.number("drawn", "toy")); }
  std::vector<ValidationScore> validate() override {
    ++validations;
    if (!scores.empty()) return {{"given", scores[std::min(validations, scores.size()) - 1], true}};
    double distance = 0;
    const Real wanted[] = {2, -1, 0.5};
    for (int i = 0; i < kWidth; ++i) distance += std::abs(static_cast<double>(weight_.value().data()[i] - wanted[i]));
    return {{"distance", distance, false}};
  }

  Parameters parameters{3};
  std::vector<double> scores;  // if given, what validate says, one after the other
  std::size_t validations = 0;
  Index break_at = 0;  // the drawn batch whose loss is not a number

 private:
  Var weight_;
  Index drawn_ = 0;
  bool broken_ = false;
  Tensor points_, values_;
};

inline ProgressScreen no_screen() {
  ProgressScreen screen = ProgressScreen::standard_error();
  screen.write = [](std::string_view) {};
  return screen;
}

inline LoopOptions toy_options() {
  LoopOptions options;
  options.workers = {.shards = 3, .threads = 2, .seed = 11};
  options.delay = 2;
  options.clip_norm = 1;
  options.smoothing = 0.9;
  options.validate = {.steps = 4};
  options.save = {.steps = 3};
  options.show = 2;
  return options;
}

inline SchedulePointer toy_schedule() { return plateau_rate({.rate = 0.05, .factor = 0.5}); }

}  // namespace heed::test
