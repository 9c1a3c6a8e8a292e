#pragma once

#include <memory>

#include "heed/store/training_state.h"

namespace heed {

// The learning rate as a function of the step, and for some also of the validation values seen so far.
class Schedule {
 public:
  virtual ~Schedule() = default;
  // For update number `step`, counted from 1. An Error below 1.
  Real rate(Index step) const;
  // A new validation value, e.g. once an epoch.
  virtual void observe(double) {}
  // What observe has learnt; rates follow from it and the step alone.
  virtual TrainingState state() const { return {}; }
  virtual void load_state(const TrainingState&) {}

 private:
  virtual double rate_at(double step) const = 0;
};
using SchedulePointer = std::unique_ptr<Schedule>;

SchedulePointer constant_rate(double rate);

// rate until step `after`, then times `factor` at once and again after every `every` steps. Sutskever et al. 2014:
// after 5 epochs every half epoch; Luong et al. 2015: after 5 epochs every epoch.
struct Halving {
  double rate;
  Index after, every;
  double factor = 0.5;
};
SchedulePointer halving_rate(const Halving& options);

// scale · d^−½ · min(step^−½, step · warm_up^−3⁄2), d the width of the model (Vaswani et al. 2017).
struct Noam {
  Index width;
  Index warm_up = 4000;
  double scale = 1;
};
SchedulePointer noam_rate(const Noam& options);

// In a straight line from `start` (at step 0) to `peak` (at step warm_up), then peak · √(warm_up / step). With start =
// 0 and the peak (d · warm_up)^−½ this is Noam's.
struct InverseRoot {
  double peak;
  Index warm_up;
  double start = 0;
};
SchedulePointer inverse_root_rate(const InverseRoot& options);

// Times `factor` when the validation value was not better than the best so far for more than `patience` observations in
// a row; never below `minimum`. Gehring et al. 2017: factor 0.1, patience 0; stop once the rate is below 1e-4.
struct Plateau {
  double rate;
  double factor = 0.1;
  Index patience = 0;
  double minimum = 0;
  bool higher_is_better = false;
};
SchedulePointer plateau_rate(const Plateau& options);

}  // namespace heed
