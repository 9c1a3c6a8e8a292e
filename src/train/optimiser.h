#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "heed/nn/parameters.h"
#include "heed/store/training_state.h"

namespace heed {

// The algorithms, with the defaults of torch.optim. Their equations and papers: kernels/optimise.h.

// With nesterov this is the NAG of Gehring et al. 2017, x += μ²v − (1+μ)ηg, v = μv − ηg, up to the sign and unit of
// the velocity: with our velocity w = −v/η both give x −= η((1+μ)g + μ²w), w = μw + g. They part when the rate
// changes: theirs keeps the old steps in v at the old rate, ours (and torch's) moves at the new rate at once.
struct Sgd {
  double momentum = 0;
  bool nesterov = false;
};
struct Adagrad {
  double epsilon = 1e-10;
};
struct Adadelta {
  double rho = 0.9;
  double epsilon = 1e-6;
};
struct Rmsprop {
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
  bool centred = false;
};
struct Adam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
using Algorithm = std::variant<Sgd, Adagrad, Adadelta, Rmsprop, Adam>;

struct OptimiserOptions {
  Algorithm algorithm = Adam{};
  double weight_decay = 0;
  // false: weight decay is the gradient of an L2 term; true: it shrinks the weights beside the step (AdamW, SGDW).
  bool decoupled = false;
  // false: a sparse gradient gives the same result as the dense one. true: only the touched rows and their state
  // change, as in TensorFlow's LazyAdam: faster for large tables, another algorithm wherever zeros would have moved
  // the state. The bias correction counts every step of the table.
  bool lazy = false;
};

// By name, with defaults: sgd, nesterov (momentum 0.99, Gehring et al. 2017), adagrad, adadelta, rmsprop, adam, adamw
// (decay 0.01).
OptimiserOptions optimiser_named(std::string_view name);

class Optimiser {
 public:
  // An Error names the field that makes no sense.
  explicit Optimiser(const OptimiserOptions& options = {});
  Optimiser(Optimiser&&) = default;
  Optimiser& operator=(Optimiser&&) = default;

  // One update of every parameter that has a gradient; the others, their state and their step count stay as they
  // are. The gradients count as multiplied by gradient_scale (see clip.h).
  void step(Parameters& parameters, const Gradients& gradients, Real learning_rate, Real gradient_scale = 1);

  const OptimiserOptions& options() const { return options_; }
  // "<parameter>.<slot>" tensors and "<parameter>.steps".
  TrainingState state() const;
  // Replaces the whole state, or changes nothing and throws when a tensor does not fit these parameters.
  void load_state(const Parameters& parameters, const TrainingState& state);

 private:
  struct Slots {
    Index steps = 0;
    std::vector<Tensor> tensors;  // one for each of slot_names_, of the parameter's shape
  };
  struct Step;

  void update_rows(const Step& step, const Gradient& gradient) const;
  void update_range(const Step& step, Index begin, Index end, const Real* gradient) const;
  bool only_touched_rows() const;

  OptimiserOptions options_;
  std::vector<std::string> slot_names_;
  std::unordered_map<std::string, Slots> slots_;  // by parameter
};

}  // namespace heed
