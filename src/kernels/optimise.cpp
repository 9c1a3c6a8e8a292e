#include "heed/kernels/optimise.h"

#include <cmath>

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/optimise.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// One pass: x = f(x, g, states...), where f also changes the states. Scale and decay are in g and x already.
template <class F, class... States>
HWY_INLINE void sweep(Index n, const Update& update, const Real* gradient, const F& f, Real* value, States*... states) {
  const V scale = set(update.gradient_scale);
  const V l2 = set(update.decoupled ? 0 : update.weight_decay);
  const V keep = set(update.decoupled ? 1 - update.rate * update.weight_decay : 1);
  const auto apply = [&](V x, V d, auto&... s)
                         HWY_ATTR { return f(hn::Mul(keep, x), hn::MulAdd(l2, x, hn::Mul(scale, d)), s...); };
  for_each_vector(
      n,
      [&](Index i) HWY_ATTR {
        const V d = gradient ? load(gradient + i) : set(0);
        [&](auto... s) HWY_ATTR {
          store(apply(load(value + i), d, s...), value + i);
          (store(s, states + i), ...);
        }(load(states + i)...);
      },
      [&](Index i, Index rest) HWY_ATTR {
        const V d = gradient ? load_part(gradient + i, rest) : set(0);
        [&](auto... s) HWY_ATTR {
          store_part(apply(load_part(value + i, rest), d, s...), value + i, rest);
          (store_part(s, states + i, rest), ...);
        }(load_part(states + i, rest)...);
      });
}

// decay · s + (1 − decay) · g²
HWY_INLINE V decayed_square(V decay, V rest, V s, V g) { return hn::MulAdd(hn::Mul(rest, g), g, hn::Mul(decay, s)); }

void sgd_range(Index n, const Update& update, const Real* gradient, Real* value) {
  const V rate = set(update.rate);
  sweep(
      n, update, gradient, [&](V x, V g) HWY_ATTR { return hn::NegMulAdd(rate, g, x); }, value);
}

void momentum_range(Index n, const MomentumStep& step, const Real* gradient, Real* velocity, Real* value) {
  const V rate = set(step.update.rate), mu = set(step.momentum);
  const bool nesterov = step.nesterov;
  const auto f = [&](V x, V g, V& v) HWY_ATTR {
    v = hn::MulAdd(mu, v, g);
    return hn::NegMulAdd(rate, nesterov ? hn::MulAdd(mu, v, g) : v, x);
  };
  sweep(n, step.update, gradient, f, value, velocity);
}

void adagrad_range(Index n, const AdagradStep& step, const Real* gradient, Real* squares, Real* value) {
  const V rate = set(step.update.rate), epsilon = set(step.epsilon);
  const auto f = [&](V x, V g, V& s) HWY_ATTR {
    s = hn::MulAdd(g, g, s);
    return hn::NegMulAdd(rate, hn::Div(g, hn::Add(hn::Sqrt(s), epsilon)), x);
  };
  sweep(n, step.update, gradient, f, value, squares);
}

void adadelta_range(Index n, const AdadeltaStep& step, const Real* gradient, Real* squares, Real* deltas, Real* value) {
  const V rate = set(step.update.rate), rho = set(step.rho), rest = set(1 - step.rho), epsilon = set(step.epsilon);
  const auto f = [&](V x, V g, V& s, V& d) HWY_ATTR {
    s = decayed_square(rho, rest, s, g);
    const V delta = hn::Mul(hn::Div(hn::Sqrt(hn::Add(d, epsilon)), hn::Sqrt(hn::Add(s, epsilon))), g);
    d = decayed_square(rho, rest, d, delta);
    return hn::NegMulAdd(rate, delta, x);
  };
  sweep(n, step.update, gradient, f, value, squares, deltas);
}

void rmsprop_range(Index n, const RmspropStep& step, const Real* gradient, const RmspropState& state, Real* value) {
  const V rate = set(step.update.rate), alpha = set(step.alpha), rest = set(1 - step.alpha);
  const V epsilon = set(step.epsilon), mu = set(step.momentum);
  const auto plain = [&](V g, V& s) HWY_ATTR {
    s = decayed_square(alpha, rest, s, g);
    return hn::Div(g, hn::Add(hn::Sqrt(s), epsilon));
  };
  const auto centred = [&](V g, V& s, V& m) HWY_ATTR {
    s = decayed_square(alpha, rest, s, g);
    m = hn::MulAdd(rest, hn::Sub(g, m), m);
    return hn::Div(g, hn::Add(hn::Sqrt(at_least(hn::NegMulAdd(m, m, s), 0)), epsilon));
  };
  const auto move = [&](V x, V u, V& v) HWY_ATTR {
    v = hn::MulAdd(mu, v, u);
    return hn::NegMulAdd(rate, v, x);
  };
  const auto [squares, mean, velocity] = state;
  if (mean && velocity) {
    const auto f = [&](V x, V g, V& s, V& m, V& v) HWY_ATTR { return move(x, centred(g, s, m), v); };
    sweep(n, step.update, gradient, f, value, squares, mean, velocity);
  } else if (mean) {
    const auto f = [&](V x, V g, V& s, V& m) HWY_ATTR { return hn::NegMulAdd(rate, centred(g, s, m), x); };
    sweep(n, step.update, gradient, f, value, squares, mean);
  } else if (velocity) {
    const auto f = [&](V x, V g, V& s, V& v) HWY_ATTR { return move(x, plain(g, s), v); };
    sweep(n, step.update, gradient, f, value, squares, velocity);
  } else {
    const auto f = [&](V x, V g, V& s) HWY_ATTR { return hn::NegMulAdd(rate, plain(g, s), x); };
    sweep(n, step.update, gradient, f, value, squares);
  }
}

void adam_range(Index n, const AdamStep& step, const Real* gradient, Real* first, Real* second, Real* value) {
  const V rate = set(step.update.rate / step.correction1), scale = set(1 / std::sqrt(step.correction2));
  const V rest1 = set(1 - step.beta1), beta2 = set(step.beta2), rest2 = set(1 - step.beta2);
  const V epsilon = set(step.epsilon);
  const auto f = [&](V x, V g, V& m, V& s) HWY_ATTR {
    m = hn::MulAdd(rest1, hn::Sub(g, m), m);
    s = decayed_square(beta2, rest2, s, g);
    return hn::NegMulAdd(rate, hn::Div(m, hn::MulAdd(hn::Sqrt(s), scale, epsilon)), x);
  };
  sweep(n, step.update, gradient, f, value, first, second);
}

void average_range(Index n, double weight, const Real* value, Real* average) {
  const V w = set(weight);
  transform(n, value, average, average, [&](V x, V a) HWY_ATTR { return hn::MulAdd(w, hn::Sub(x, a), a); });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
constexpr Index kGrain = 16 * 1024;  // elements below which a second thread costs more than it brings

const Real* at(const Real* gradient, Index i) { return gradient ? gradient + i : nullptr; }
Real* at(Real* state, Index i) { return state ? state + i : nullptr; }
}  // namespace

HWY_EXPORT(sgd_range);
HWY_EXPORT(momentum_range);
HWY_EXPORT(adagrad_range);
HWY_EXPORT(adadelta_range);
HWY_EXPORT(rmsprop_range);
HWY_EXPORT(adam_range);
HWY_EXPORT(average_range);

void sgd(Index n, const Update& update, const Real* gradient, Real* value) {
  parallel_for(n, kGrain, [&](Index i, Index end) {
    HWY_DYNAMIC_DISPATCH(sgd_range)(end - i, update, at(gradient, i), value + i);
  });
}

void momentum(Index n, const MomentumStep& step, const Real* gradient, Real* velocity, Real* value) {
  parallel_for(n, kGrain, [&](Index i, Index end) {
    HWY_DYNAMIC_DISPATCH(momentum_range)(end - i, step, at(gradient, i), velocity + i, value + i);
  });
}

void adagrad(Index n, const AdagradStep& step, const Real* gradient, Real* squares, Real* value) {
  parallel_for(n, kGrain, [&](Index i, Index end) {
    HWY_DYNAMIC_DISPATCH(adagrad_range)(end - i, step, at(gradient, i), squares + i, value + i);
  });
}

void adadelta(Index n, const AdadeltaStep& step, const Real* gradient, Real* squares, Real* deltas, Real* value) {
  parallel_for(n, kGrain, [&](Index i, Index end) {
    HWY_DYNAMIC_DISPATCH(adadelta_range)(end - i, step, at(gradient, i), squares + i, deltas + i, value + i);
  });
}

void rmsprop(Index n, const RmspropStep& step, const Real* gradient, const RmspropState& state, Real* value) {
  parallel_for(n, kGrain, [&](Index i, Index end) {
    const RmspropState part{state.squares + i, at(state.mean, i), at(state.velocity, i)};
    HWY_DYNAMIC_DISPATCH(rmsprop_range)(end - i, step, at(gradient, i), part, value + i);
  });
}

void adam(Index n, const AdamStep& step, const Real* gradient, Real* first, Real* second, Real* value) {
  parallel_for(n, kGrain, [&](Index i, Index end) {
    HWY_DYNAMIC_DISPATCH(adam_range)(end - i, step, at(gradient, i), first + i, second + i, value + i);
  });
}

void average(Index n, double weight, const Real* value, Real* average) {
  parallel_for(n, kGrain, [&](Index i, Index end) {
    HWY_DYNAMIC_DISPATCH(average_range)(end - i, weight, value + i, average + i);
  });
}

}  // namespace heed::kernels
#endif
