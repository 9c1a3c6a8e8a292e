#include "heed/kernels/ref/optimise.h"

#include <algorithm>
#include <cmath>

namespace heed::kernels::ref {
namespace {

// x and g of one element, decay and scale included.
struct Element {
  Element(const Update& update, const Real* gradient, const Real* value, Index i)
      : x(value[i]), g(gradient ? update.gradient_scale * gradient[i] : 0.0) {
    if (update.decoupled) {
      x -= update.rate * update.weight_decay * x;
    } else {
      g += update.weight_decay * x;
    }
  }
  double x, g;
};

Real round(double x) { return static_cast<Real>(x); }

}  // namespace

void sgd(Index n, const Update& update, const Real* gradient, Real* value) {
  for (Index i = 0; i < n; ++i) {
    const Element e(update, gradient, value, i);
    value[i] = round(e.x - update.rate * e.g);
  }
}

void momentum(Index n, const MomentumStep& step, const Real* gradient, Real* velocity, Real* value) {
  for (Index i = 0; i < n; ++i) {
    const Element e(step.update, gradient, value, i);
    const double v = step.momentum * velocity[i] + e.g;
    velocity[i] = round(v);
    value[i] = round(e.x - step.update.rate * (step.nesterov ? e.g + step.momentum * v : v));
  }
}

void adagrad(Index n, const AdagradStep& step, const Real* gradient, Real* squares, Real* value) {
  for (Index i = 0; i < n; ++i) {
    const Element e(step.update, gradient, value, i);
    const double s = squares[i] + e.g * e.g;
    squares[i] = round(s);
    value[i] = round(e.x - step.update.rate * e.g / (std::sqrt(s) + step.epsilon));
  }
}

void adadelta(Index n, const AdadeltaStep& step, const Real* gradient, Real* squares, Real* deltas, Real* value) {
  for (Index i = 0; i < n; ++i) {
    const Element e(step.update, gradient, value, i);
    const double s = step.rho * squares[i] + (1 - step.rho) * e.g * e.g;
    const double delta = std::sqrt(deltas[i] + step.epsilon) / std::sqrt(s + step.epsilon) * e.g;
    squares[i] = round(s);
    deltas[i] = round(step.rho * deltas[i] + (1 - step.rho) * delta * delta);
    value[i] = round(e.x - step.update.rate * delta);
  }
}

void rmsprop(Index n, const RmspropStep& step, const Real* gradient, const RmspropState& state, Real* value) {
  for (Index i = 0; i < n; ++i) {
    const Element e(step.update, gradient, value, i);
    const double s = step.alpha * state.squares[i] + (1 - step.alpha) * e.g * e.g;
    state.squares[i] = round(s);
    double spread = s;
    if (state.mean) {
      const double m = step.alpha * state.mean[i] + (1 - step.alpha) * e.g;
      state.mean[i] = round(m);
      spread = std::max(s - m * m, 0.0);
    }
    double u = e.g / (std::sqrt(spread) + step.epsilon);
    if (state.velocity) {
      u += step.momentum * state.velocity[i];
      state.velocity[i] = round(u);
    }
    value[i] = round(e.x - step.update.rate * u);
  }
}

void adam(Index n, const AdamStep& step, const Real* gradient, Real* first, Real* second, Real* value) {
  for (Index i = 0; i < n; ++i) {
    const Element e(step.update, gradient, value, i);
    const double m = step.beta1 * first[i] + (1 - step.beta1) * e.g;
    const double s = step.beta2 * second[i] + (1 - step.beta2) * e.g * e.g;
    first[i] = round(m);
    second[i] = round(s);
    const double denominator = std::sqrt(s) / std::sqrt(step.correction2) + step.epsilon;
    value[i] = round(e.x - step.update.rate / step.correction1 * m / denominator);
  }
}

void average(Index n, double weight, const Real* value, Real* average) {
  for (Index i = 0; i < n; ++i)
    average[i] = round(average[i] + weight * (static_cast<double>(value[i]) - static_cast<double>(average[i])));
}

}  // namespace heed::kernels::ref
