#include "heed/train/optimiser.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/threads.h"
#include "heed/kernels/optimise.h"
#include "heed/train/rows.h"

namespace heed {
namespace {

template <class... Each>
struct Cases : Each... {
  using Each::operator()...;
};
template <class... Each>  // clang 14 does not deduce it
Cases(Each...)->Cases<Each...>;

void require_fraction(const char* field, double value) {
  require(value >= 0 && value < 1, "[optimiser] {} must be in [0, 1), not {}", field, value);
}
void require_not_negative(const char* field, double value) {
  require(value >= 0 && std::isfinite(value), "[optimiser] {} must be 0 or more and finite, not {}", field, value);
}

void check(const OptimiserOptions& options) {
  require_not_negative("weight_decay", options.weight_decay);
  std::visit(Cases{[](const Sgd& sgd) {
                     require_fraction("momentum", sgd.momentum);
                     require(!sgd.nesterov || sgd.momentum > 0, "[optimiser] nesterov needs a momentum above 0");
                   },
                   [](const Adagrad& adagrad) { require_not_negative("epsilon", adagrad.epsilon); },
                   [](const Adadelta& adadelta) {
                     require_fraction("rho", adadelta.rho);
                     require_not_negative("epsilon", adadelta.epsilon);
                   },
                   [](const Rmsprop& rmsprop) {
                     require_fraction("alpha", rmsprop.alpha);
                     require_fraction("momentum", rmsprop.momentum);
                     require_not_negative("epsilon", rmsprop.epsilon);
                   },
                   [](const Adam& adam) {
                     require_fraction("beta1", adam.beta1);
                     require_fraction("beta2", adam.beta2);
                     require_not_negative("epsilon", adam.epsilon);
                   }},
             options.algorithm);
}

std::vector<std::string> slot_names(const Algorithm& algorithm) {
  using Names = std::vector<std::string>;
  return std::visit(Cases{[](const Sgd& sgd) { return sgd.momentum > 0 ? Names{"velocity"} : Names{}; },
                          [](const Adagrad&) { return Names{"squares"}; },
                          [](const Adadelta&) {
                            return Names{"squares", "deltas"};
                          },
                          [](const Rmsprop& rmsprop) {
                            Names names{"squares"};
                            if (rmsprop.centred) names.emplace_back("mean");
                            if (rmsprop.momentum > 0) names.emplace_back("velocity");
                            return names;
                          },
                          [](const Adam&) {
                            return Names{"first", "second"};
                          }},
                    algorithm);
}

}  // namespace

OptimiserOptions optimiser_named(std::string_view name) {
  if (name == "sgd") return {.algorithm = Sgd{}};
  if (name == "nesterov") return {.algorithm = Sgd{.momentum = 0.99, .nesterov = true}};
  if (name == "adagrad") return {.algorithm = Adagrad{}};
  if (name == "adadelta") return {.algorithm = Adadelta{}};
  if (name == "rmsprop") return {.algorithm = Rmsprop{}};
  if (name == "adam") return {.algorithm = Adam{}};
  if (name == "adamw") return {.algorithm = Adam{}, .weight_decay = 0.01, .decoupled = true};
  fail("[optimiser] {} is not one of sgd, nesterov, adagrad, adadelta, rmsprop, adam, adamw", name);
}

// One parameter's update, ready to run on any range of its elements.
struct Optimiser::Step {
  kernels::Update update;
  double correction1 = 1, correction2 = 1;  // of Adam, at this parameter's step
  Real* value;
  std::array<Real*, 3> slots{};  // as in slot_names_
  Index rows, width;             // of a table; 0 rows if it has no rows
};

Optimiser::Optimiser(const OptimiserOptions& options) : options_(options) {
  check(options_);
  slot_names_ = slot_names(options_.algorithm);
}

void Optimiser::step(Parameters& parameters, const Gradients& gradients, Real learning_rate, Real gradient_scale) {
  require(learning_rate >= 0 && std::isfinite(learning_rate),
          "[optimiser] the learning rate must be 0 or more and finite, not {}", learning_rate);
  require(std::isfinite(gradient_scale), "[optimiser] the gradient scale must be finite, not {}", gradient_scale);
  for (Parameters::Entry& entry : parameters.entries()) {
    const Gradient* gradient = gradients.find(entry.var);
    if (!gradient || gradient->empty()) continue;
    Tensor& value = entry.var.value();
    const Tensor dense = gradient->sparse() ? Tensor() : gradient->to_dense(value.shape()).contiguous();
    require(!dense || dense.shape() == value.shape(), "[optimiser] the gradient of {} has shape {}, the parameter {}",
            entry.name, dense.shape(), value.shape());

    Slots& slots = slots_[entry.name];
    while (slots.tensors.size() < slot_names_.size()) slots.tensors.emplace_back(value.shape(), Real{0});
    ++slots.steps;
    Step step{.update = {.rate = learning_rate,
                         .gradient_scale = gradient_scale,
                         .weight_decay = options_.weight_decay,
                         .decoupled = options_.decoupled},
              .value = value.data(),
              .rows = value.rank() > 0 ? value.size(0) : 0,
              .width = value.rank() > 0 && value.size(0) > 0 ? value.size() / value.size(0) : 0};
    if (const Adam* adam = std::get_if<Adam>(&options_.algorithm)) {
      step.correction1 = 1 - std::pow(adam->beta1, static_cast<double>(slots.steps));
      step.correction2 = 1 - std::pow(adam->beta2, static_cast<double>(slots.steps));
    }
    for (std::size_t i = 0; i < slots.tensors.size(); ++i) {
      require(slots.tensors[i].shape() == value.shape(), "[optimiser] the {} of {} has shape {}, the parameter {}",
              slot_names_[i], entry.name, slots.tensors[i].shape(), value.shape());
      step.slots[i] = slots.tensors[i].data();
    }

    if (gradient->sparse()) {
      update_rows(step, *gradient);
    } else {
      update_range(step, 0, value.size(), dense.data());
    }
  }
}

void Optimiser::update_rows(const Step& step, const Gradient& gradient) const {
  const RowGradient merged = merged_rows(gradient, step.rows, step.width, "optimiser");
  const std::int32_t* ids = merged.ids.data();
  const Index count = merged.ids.size(), width = step.width;
  const Index grain = std::max<Index>(1, 16 * 1024 / std::max<Index>(width, 1));  // rows worth a thread
  const auto touched = [&](Index i) {
    update_range(step, ids[i] * width, (ids[i] + 1) * width, merged.rows.data() + i * width);
  };
  if (options_.lazy || only_touched_rows()) {
    parallel_for(count, grain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) touched(i);
    });
    return;
  }
  parallel_for(step.rows, grain, [&](Index begin, Index end) {
    Index i = std::lower_bound(ids, ids + count, begin) - ids;
    for (Index row = begin; row < end; ++i) {
      const Index next = i < count ? std::min<Index>(ids[i], end) : end;
      update_range(step, row * width, next * width, nullptr);
      if (next < end) touched(i);
      row = next + 1;
    }
  });
}

// Whether a zero gradient changes neither value nor state.
bool Optimiser::only_touched_rows() const {
  const Sgd* sgd = std::get_if<Sgd>(&options_.algorithm);
  return options_.weight_decay == 0 &&
         ((sgd && sgd->momentum == 0) || std::holds_alternative<Adagrad>(options_.algorithm));
}

void Optimiser::update_range(const Step& step, Index begin, Index end, const Real* gradient) const {
  const Index n = end - begin;
  Real* value = step.value + begin;
  const auto slot = [&](std::size_t i) { return step.slots[i] + begin; };
  std::visit(
      Cases{[&](const Sgd& sgd) {
              if (sgd.momentum > 0) {
                kernels::momentum(n, {step.update, sgd.momentum, sgd.nesterov}, gradient, slot(0), value);
              } else {
                kernels::sgd(n, step.update, gradient, value);
              }
            },
            [&](const Adagrad& adagrad) {
              kernels::adagrad(n, {step.update, adagrad.epsilon}, gradient, slot(0), value);
            },
            [&](const Adadelta& adadelta) {
              kernels::adadelta(n, {step.update, adadelta.rho, adadelta.epsilon}, gradient, slot(0), slot(1), value);
            },
            [&](const Rmsprop& rmsprop) {
              const kernels::RmspropState state{slot(0), rmsprop.centred ? slot(1) : nullptr,
                                                rmsprop.momentum > 0 ? slot(rmsprop.centred ? 2 : 1) : nullptr};
              kernels::rmsprop(n, {step.update, rmsprop.alpha, rmsprop.epsilon, rmsprop.momentum}, gradient, state,
                               value);
            },
            [&](const Adam& adam) {
              const kernels::AdamStep adam_step{step.update,  adam.beta1,       adam.beta2,
                                                adam.epsilon, step.correction1, step.correction2};
              kernels::adam(n, adam_step, gradient, slot(0), slot(1), value);
            }},
      options_.algorithm);
}

TrainingState Optimiser::state() const {
  TrainingState state;
  for (const auto& [name, slots] : slots_) {
    state.numbers.push_back({name + ".steps", static_cast<double>(slots.steps)});
    for (std::size_t i = 0; i < slot_names_.size(); ++i)
      state.tensors.push_back({name + "." + slot_names_[i], slots.tensors[i]});
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(state.tensors.begin(), state.tensors.end(), by_name);
  std::sort(state.numbers.begin(), state.numbers.end(), by_name);
  return state;
}

void Optimiser::load_state(const Parameters& parameters, const TrainingState& state) {
  std::unordered_map<std::string, Slots> loaded;
  constexpr std::string_view kSteps = ".steps";
  for (const NamedNumber& number : state.numbers) {
    require(number.name.ends_with(kSteps) && number.number >= 1 && number.number < 1e15 &&
                number.number == std::floor(number.number),
            "[optimiser] the saved number {} = {} is not a count of steps", number.name, number.number);
    const std::string name = number.name.substr(0, number.name.size() - kSteps.size());
    const Shape& shape = parameters.at(name).shape();
    Slots& slots = loaded[name];
    slots.steps = static_cast<Index>(number.number);
    for (const std::string& slot : slot_names_) {
      const Tensor& tensor = state.tensor(name + "." + slot, "optimiser");
      require(tensor.shape() == shape, "[optimiser] the saved {} of {} has shape {}, the parameter {}", slot, name,
              tensor.shape(), shape);
      slots.tensors.push_back(tensor.copy());
    }
  }
  require(state.tensors.size() == loaded.size() * slot_names_.size(),
          "[optimiser] the saved state has {} tensors for {} parameters; this algorithm keeps {} for each",
          state.tensors.size(), loaded.size(), slot_names_.size());
  slots_ = std::move(loaded);
}

}  // namespace heed
