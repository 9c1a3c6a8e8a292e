#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "heed/attention/fused.h"

// Attention with a user's own score or mask, in the fused kernel, with its gradient:
//   auto mine = heed::attend(q, k, v, heed::score([](auto s, Index b, Index h, Index i, Index j) { ... }),
//                                     heed::mask([](Index b, Index h, Index i, Index j) { return j <= i; }));
//   mine.read, mine.weights(rows, heads)
//
// A score maps the scaled product s = scale q(i)·k(j) of sentence b, head h to the score that goes into the softmax.
// What it takes decides how it is differentiated:
// - `auto s`: with dual numbers, exactly. Write maths functions without std::, e.g. tanh(s).
// - `float s`: by the five-point central difference, exact for polynomials of degree 4, else good to about 1e-6 of a
//   smooth score of ordinary size. At a kink it is the mean of the slopes around.

namespace heed {

// A number and its derivative by the score (forward-mode differentiation).
struct Dual {
  Real value = 0, slope = 0;
  Dual() = default;
  template <class T>
  requires std::is_arithmetic_v<T> Dual(T constant)
      : value(static_cast<Real>(constant)) {}  // NOLINT: a number is a constant
  Dual(Real v, Real s) : value(v), slope(s) {}

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
  friend Dual operator/(Dual a, Dual b) {
    const Real q = a.value / b.value;
    return {q, (a.slope - q * b.slope) / b.value};
  }
  Dual& operator+=(Dual b) { return *this = *this + b; }
  Dual& operator-=(Dual b) { return *this = *this - b; }
  Dual& operator*=(Dual b) { return *this = *this * b; }
  Dual& operator/=(Dual b) { return *this = *this / b; }
  friend bool operator<(Dual a, Dual b) { return a.value < b.value; }
  friend bool operator>(Dual a, Dual b) { return a.value > b.value; }

  friend Dual exp(Dual x) { return {std::exp(x.value), x.slope * std::exp(x.value)}; }
  friend Dual log(Dual x) { return {std::log(x.value), x.slope / x.value}; }
  friend Dual sqrt(Dual x) { return {std::sqrt(x.value), x.slope / (2 * std::sqrt(x.value))}; }
  friend Dual tanh(Dual x) {
    const Real y = std::tanh(x.value);
    return {y, x.slope * (1 - y * y)};
  }
  friend Dual sin(Dual x) { return {std::sin(x.value), x.slope * std::cos(x.value)}; }
  friend Dual cos(Dual x) { return {std::cos(x.value), -x.slope * std::sin(x.value)}; }
  friend Dual abs(Dual x) { return x.value < 0 ? -x : x; }
};

template <class F>
concept ScoreFunction = requires(const F& f, Real s, Index i) {
  { f(s, i, i, i, i) } -> std::convertible_to<Real>;
};
template <class F>
concept DualScoreFunction = requires(const F& f, Dual s, Index i) {
  { f(s, i, i, i, i) } -> std::convertible_to<Dual>;
};
template <class F>
concept MaskFunction = requires(const F& f, Index i) {
  { f(i, i, i, i) } -> std::convertible_to<bool>;
};

template <class F>
struct ScoreBy {
  F function;
};
template <class F>
struct Visible {
  F function;
};
template <class F>
ScoreBy<F> score(F function) {
  static_assert(ScoreFunction<F>,
                "heed::score needs a function (score, batch, head, query, key) -> score, e.g. "
                "[](float s, Index b, Index h, Index i, Index j) { return s; }");
  return {std::move(function)};
}
template <class F>
Visible<F> mask(F function) {
  static_assert(MaskFunction<F>,
                "heed::mask needs a function (batch, head, query, key) -> bool, true where the query may see the key, "
                "e.g. [](Index b, Index h, Index i, Index j) { return j <= i; }");
  return {std::move(function)};
}

namespace detail {

struct Same {};  // no function: scores as they are, all visible

template <class F>
Real score_slope(const F& f, Real s, Index b, Index h, Index i, Index j) {
  if constexpr (DualScoreFunction<F>) {
    return static_cast<Dual>(f(Dual(s, 1), b, h, i, j)).slope;
  } else {
    using Result = std::decay_t<decltype(f(s, b, h, i, j))>;
    constexpr Real step = std::is_same_v<Result, double> ? Real(0x1p-10) : Real(0x1p-4);  // as exact as the result
    const auto at = [&](Real x) { return static_cast<Real>(f(x, b, h, i, j)); };
    return (8 * (at(s + step) - at(s - step)) - (at(s + 2 * step) - at(s - 2 * step))) / (12 * step);
  }
}

template <class S, class M>
struct Functors {
  S score;
  M mask;

  template <class Body>
  static void for_each_pair(const kernels::ScoreTile& t, const Body& body) {
    for (Index r = 0; r < t.rows; ++r)
      for (Index c = 0; c < t.columns; ++c) body(r * t.stride + c, t.query + r, t.key + c);
  }
  static const Functors& of(const void* context) { return *static_cast<const Functors*>(context); }

  static void apply(const void* context, const kernels::ScoreTile& t, Real* scores) {
    const S& f = of(context).score;
    for_each_pair(
        t, [&](Index at, Index i, Index j) { scores[at] = static_cast<Real>(f(scores[at], t.batch, t.head, i, j)); });
  }
  static void slope(const void* context, const kernels::ScoreTile& t, const Real* raw, Real* slopes) {
    const S& f = of(context).score;
    for_each_pair(t, [&](Index at, Index i, Index j) { slopes[at] = score_slope(f, raw[at], t.batch, t.head, i, j); });
  }
  static void hide(const void* context, const kernels::ScoreTile& t, Real* scores) {
    const M& visible = of(context).mask;
    for_each_pair(t, [&](Index at, Index i, Index j) {
      if (!static_cast<bool>(visible(t.batch, t.head, i, j))) scores[at] = -std::numeric_limits<Real>::infinity();
    });
  }

  static ScoreRule rule(S score, M mask) {
    const auto functors = std::make_shared<const Functors>(Functors{std::move(score), std::move(mask)});
    kernels::ScoreRule calls;
    calls.context = functors.get();
    if constexpr (!std::is_same_v<S, Same>) calls.apply = apply, calls.slope = slope;
    if constexpr (!std::is_same_v<M, Same>) calls.hide = hide;
    return {calls, functors};
  }
};

}  // namespace detail

// The functions are called from several threads at once, on tiles; they must not throw. `options` may narrow the
// window further: what its band leaves out is skipped, which a mask alone cannot do.
template <class S, class M>
FusedAttention attend(const Var& q, const Var& k, const Var& v, ScoreBy<S> score, Visible<M> mask,
                      FusedOptions options = {}) {
  options.rule = detail::Functors<S, M>::rule(std::move(score.function), std::move(mask.function));
  return attend_fused(q, k, v, std::move(options));
}
template <class S>
FusedAttention attend(const Var& q, const Var& k, const Var& v, ScoreBy<S> score, FusedOptions options = {}) {
  options.rule = detail::Functors<S, detail::Same>::rule(std::move(score.function), {});
  return attend_fused(q, k, v, std::move(options));
}
template <class M>
FusedAttention attend(const Var& q, const Var& k, const Var& v, Visible<M> mask, FusedOptions options = {}) {
  options.rule = detail::Functors<detail::Same, M>::rule({}, std::move(mask.function));
  return attend_fused(q, k, v, std::move(options));
}
inline FusedAttention attend(const Var& q, const Var& k, const Var& v, FusedOptions options = {}) {
  return attend_fused(q, k, v, std::move(options));
}

}  // namespace heed
