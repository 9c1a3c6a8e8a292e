#include "heed/train/schedule.h"

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

void require_rate(const char* field, double value) {
  require(value >= 0 && std::isfinite(value), "[schedule] {} must be 0 or more and finite, not {}", field, value);
}
void require_factor(double factor) {
  require(factor > 0 && factor < 1, "[schedule] factor must be between 0 and 1, not {}", factor);
}
void require_steps(const char* field, Index value, Index least) {
  require(value >= least, "[schedule] {} must be at least {}, not {}", field, least, value);
}

class ConstantRate final : public Schedule {
 public:
  explicit ConstantRate(double rate) : rate_(rate) { require_rate("rate", rate); }

 private:
  double rate_at(double) const override { return rate_; }
  double rate_;
};

class HalvingRate final : public Schedule {
 public:
  explicit HalvingRate(const Halving& options) : options_(options) {
    require_rate("rate", options.rate);
    require_steps("after", options.after, 0);
    require_steps("every", options.every, 1);
    require_factor(options.factor);
  }

 private:
  double rate_at(double step) const override {
    const double beyond = step - 1 - static_cast<double>(options_.after);  // steps done at the lowered rate
    if (beyond < 0) return options_.rate;
    return options_.rate * std::pow(options_.factor, 1 + std::floor(beyond / static_cast<double>(options_.every)));
  }
  Halving options_;
};

class InverseRootRate final : public Schedule {
 public:
  explicit InverseRootRate(const InverseRoot& options) : options_(options) {
    require_rate("peak", options.peak);
    require_rate("start", options.start);
    require_steps("warm_up", options.warm_up, 1);
  }

 private:
  double rate_at(double step) const override {
    const double warm_up = static_cast<double>(options_.warm_up);
    if (step < warm_up) return options_.start + (options_.peak - options_.start) * step / warm_up;
    return options_.peak * std::sqrt(warm_up / step);
  }
  InverseRoot options_;
};

class PlateauRate final : public Schedule {
 public:
  explicit PlateauRate(const Plateau& options) : options_(options) {
    require_rate("rate", options.rate);
    require_factor(options.factor);
    require_steps("patience", options.patience, 0);
    require_rate("minimum", options.minimum);
  }

  void observe(double value) override {
    const bool better = observed_ == 0 ? !std::isnan(value) : options_.higher_is_better ? value > best_ : value < best_;
    if (better) {
      best_ = value;
      observed_ = 1;
      stalled_ = 0;
    } else if (++stalled_ > options_.patience) {
      stalled_ = 0;
      ++cuts_;
    }
  }
  TrainingState state() const override {
    return {{},
            {{"best", best_},
             {"observed", static_cast<double>(observed_)},
             {"stalled", static_cast<double>(stalled_)},
             {"cuts", static_cast<double>(cuts_)}}};
  }
  void load_state(const TrainingState& state) override {
    const double best = state.number("best", "schedule");
    const Index observed = count(state, "observed"), stalled = count(state, "stalled"), cuts = count(state, "cuts");
    best_ = best, observed_ = observed, stalled_ = stalled, cuts_ = cuts;
  }

 private:
  static Index count(const TrainingState& state, const char* name) {
    const double number = state.number(name, "schedule");
    require(number >= 0 && number == std::floor(number) && number < 1e15, "[schedule] the saved {} is {}, not a count",
            name, number);
    return static_cast<Index>(number);
  }
  double rate_at(double) const override {
    const double rate = options_.rate * std::pow(options_.factor, static_cast<double>(cuts_));
    return std::max(rate, std::min(options_.minimum, options_.rate));
  }

  Plateau options_;
  double best_ = 0;
  Index observed_ = 0;  // 1 once there is a best value
  Index stalled_ = 0;   // observations in a row without a better one
  Index cuts_ = 0;
};

}  // namespace

Real Schedule::rate(Index step) const {
  require_steps("step", step, 1);
  return static_cast<Real>(rate_at(static_cast<double>(step)));
}

SchedulePointer constant_rate(double rate) { return std::make_unique<ConstantRate>(rate); }
SchedulePointer halving_rate(const Halving& options) { return std::make_unique<HalvingRate>(options); }
SchedulePointer inverse_root_rate(const InverseRoot& options) { return std::make_unique<InverseRootRate>(options); }
SchedulePointer plateau_rate(const Plateau& options) { return std::make_unique<PlateauRate>(options); }

// step · warm_up^−3⁄2 = (step / warm_up) · warm_up^−½: the line to the peak (d · warm_up)^−½ at step warm_up.
SchedulePointer noam_rate(const Noam& options) {
  require_steps("width", options.width, 1);
  require_steps("warm_up", options.warm_up, 1);
  require_rate("scale", options.scale);
  const double peak =
      options.scale / std::sqrt(static_cast<double>(options.width) * static_cast<double>(options.warm_up));
  return inverse_root_rate({.peak = peak, .warm_up = options.warm_up});
}

}  // namespace heed
