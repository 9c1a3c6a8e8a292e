#include "heed/kernels/elementwise.h"

#include <algorithm>
#include <cmath>

#include "heed/base/threads.h"
#include "heed/kernels/nan_order.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// gelu(x) = x/2 (1 + tanh u) = x σ(2u), u = √(2/π) (x + 0.044715 x³): the second form does not cancel where tanh u is
// near -1. Beyond ±kGeluEnd the function is 0 or x and its slope 0 or 1; stopping there keeps infinities out.
constexpr double kGeluScale = 1.5957691216057308, kGeluCubic = 0.044715, kGeluEnd = 50;

HWY_INLINE V gelu(V x) {
  x = at_least(x, -kGeluEnd);
  const V u2 = hn::Mul(hn::Mul(x, set(kGeluScale)), hn::MulAdd(hn::Mul(x, x), set(kGeluCubic), set(1)));
  return hn::Mul(x, sigmoid(u2));
}
// σ(2u) + x σ(2u) σ(-2u) 2u', both σ from e = exp(-|2u|), which cannot overflow.
HWY_INLINE V gelu_slope(V x) {
  x = at_least(at_most(x, kGeluEnd), -kGeluEnd);
  const V x2 = hn::Mul(x, x);
  const V u2 = hn::Mul(hn::Mul(x, set(kGeluScale)), hn::MulAdd(x2, set(kGeluCubic), set(1)));
  const V du2 = hn::Mul(set(kGeluScale), hn::MulAdd(x2, set(3 * kGeluCubic), set(1)));
  const V e = exp(hn::Neg(hn::Abs(u2)));
  const V near_one = hn::Div(set(1), hn::Add(set(1), e)), near_zero = hn::Mul(e, near_one);
  const V gate = hn::IfThenElse(hn::Lt(x, set(0)), near_zero, near_one);
  return hn::MulAdd(hn::Mul(x, du2), hn::Mul(near_one, near_zero), gate);
}
// Highway's logarithm is made for positive finite numbers; this adds the edges.
HWY_INLINE V log(V x) {
  const V inf = set(std::numeric_limits<double>::infinity());
  V y = hn::Log(D(), x);
  y = hn::IfThenElse(hn::Eq(x, set(0)), hn::Neg(inf), y);
  y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
  return hn::IfThenElse(hn::Ge(x, set(0)), y, set(std::numeric_limits<double>::quiet_NaN()));
}

// Calls body with the vector function of f.
template <class Body>
HWY_INLINE void with_unary(Unary f, const Body& body) {
  switch (f) {
    case Unary::identity: return body([](V x) HWY_ATTR { return x; });
    case Unary::negate: return body([](V x) HWY_ATTR { return hn::Neg(x); });
    case Unary::tanh: return body([](V x) HWY_ATTR { return tanh(x); });
    case Unary::sigmoid: return body([](V x) HWY_ATTR { return sigmoid(x); });
    case Unary::relu: return body([](V x) HWY_ATTR { return at_least(x, 0); });
    case Unary::relu6: return body([](V x) HWY_ATTR { return at_most(at_least(x, 0), 6); });
    case Unary::gelu: return body([](V x) HWY_ATTR { return gelu(x); });
    case Unary::exp: return body([](V x) HWY_ATTR { return exp(x); });
    case Unary::log: return body([](V x) HWY_ATTR { return log(x); });
    case Unary::sqrt: return body([](V x) HWY_ATTR { return hn::Sqrt(x); });
    case Unary::square: return body([](V x) HWY_ATTR { return hn::Mul(x, x); });
  }
}
// Calls body with dy, saved -> dx.
template <class Body>
HWY_INLINE void with_slope(Unary f, const Body& body) {
  switch (f) {
    case Unary::identity: return body([](V dy, V) HWY_ATTR { return dy; });
    case Unary::negate: return body([](V dy, V) HWY_ATTR { return hn::Neg(dy); });
    case Unary::tanh: return body([](V dy, V y) HWY_ATTR { return hn::Mul(dy, hn::NegMulAdd(y, y, set(1))); });
    case Unary::sigmoid: return body([](V dy, V y) HWY_ATTR { return hn::Mul(dy, hn::Mul(y, hn::Sub(set(1), y))); });
    case Unary::relu: return body([](V dy, V y) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(y, set(0)), dy); });
    case Unary::relu6:
      return body([](V dy, V y)
                      HWY_ATTR { return hn::IfThenElseZero(hn::And(hn::Gt(y, set(0)), hn::Lt(y, set(6))), dy); });
    case Unary::gelu: return body([](V dy, V x) HWY_ATTR { return hn::Mul(dy, gelu_slope(x)); });
    case Unary::exp: return body([](V dy, V y) HWY_ATTR { return hn::Mul(dy, y); });
    case Unary::log: return body([](V dy, V x) HWY_ATTR { return hn::Div(dy, x); });
    case Unary::sqrt: return body([](V dy, V y) HWY_ATTR { return hn::Div(hn::Mul(dy, set(0.5)), y); });
    case Unary::square: return body([](V dy, V x) HWY_ATTR { return hn::Mul(dy, hn::Add(x, x)); });
  }
}

void unary_range(Unary f, Index n, const Real* x, Real* y) {
  with_unary(f, [&](auto function) HWY_ATTR { transform(n, x, y, function); });
}
void unary_backward_range(Unary f, Index n, const Real* dy, const Real* saved, Real* dx) {
  with_slope(f, [&](auto slope) HWY_ATTR { transform(n, dy, saved, dx, slope); });
}

template <class F>
HWY_INLINE void binary_rows(Index begin, Index end, Index n, Operand a, Operand b, Real* out, const F& f) {
  for (Index row = begin; row < end; ++row) {
    const Real* x = a.data + row * a.row_stride;
    const Real* y = b.data + row * b.row_stride;
    Real* z = out + row * n;
    if (a.step == 1 && b.step == 1) {
      transform(n, x, y, z, f);
    } else if (a.step == 1) {
      const V right = hn::Set(D(), *y);
      transform(n, x, z, [&](V left) HWY_ATTR { return f(left, right); });
    } else if (b.step == 1) {
      const V left = hn::Set(D(), *x);
      transform(n, y, z, [&](V right) HWY_ATTR { return f(left, right); });
    } else {
      const V value = f(hn::Set(D(), *x), hn::Set(D(), *y));
      transform(n, z, z, [&](V) HWY_ATTR { return value; });
    }
  }
}
void binary_range(Binary f, Index begin, Index end, Index n, Operand a, Operand b, Real* out) {
  switch (f) {
    case Binary::add: return binary_rows(begin, end, n, a, b, out, [](V x, V y) HWY_ATTR { return hn::Add(x, y); });
    case Binary::subtract:
      return binary_rows(begin, end, n, a, b, out, [](V x, V y) HWY_ATTR { return hn::Sub(x, y); });
    case Binary::multiply:
      return binary_rows(begin, end, n, a, b, out, [](V x, V y) HWY_ATTR { return hn::Mul(x, y); });
    case Binary::divide: return binary_rows(begin, end, n, a, b, out, [](V x, V y) HWY_ATTR { return hn::Div(x, y); });
  }
}

void scale_range(Index n, Real factor, const Real* x, Real* y) {
  const V s = hn::Set(D(), factor);
  transform(n, x, y, [&](V v) HWY_ATTR { return hn::Mul(s, v); });
}

void bias_activation_rows(Unary f, Index rows, Index n, const Real* x, const Real* bias, Real* y) {
  with_unary(f, [&](auto function) HWY_ATTR {
    for (Index row = 0; row < rows; ++row) {
      if (bias) {
        transform(n, x + row * n, bias, y + row * n, [&](V v, V b) HWY_ATTR { return function(hn::Add(v, b)); });
      } else {
        transform(n, x + row * n, y + row * n, function);
      }
    }
  });
}

void glu_rows(Index rows, Index n, const Real* x, Real* y) {
  for (Index row = 0; row < rows; ++row)
    transform(n, x + row * 2 * n, x + row * 2 * n + n, y + row * n,
              [](V a, V b) HWY_ATTR { return hn::Mul(a, sigmoid(b)); });
}
void glu_backward_rows(Index rows, Index n, const Real* dy, const Real* x, Real* dx) {
  for (Index row = 0; row < rows; ++row) {
    const Real *a = x + row * 2 * n, *b = a + n, *d = dy + row * n;
    Real *da = dx + row * 2 * n, *db = da + n;
    const auto piece = [&](V av, V bv, V dv, V& dav, V& dbv) HWY_ATTR {
      const V s = sigmoid(bv);
      dav = hn::Mul(dv, s);
      dbv = hn::Mul(hn::Mul(dav, av), hn::Sub(set(1), s));
    };
    for_each_vector(
        n,
        [&](Index i) HWY_ATTR {
          V dav, dbv;
          piece(load(a + i), load(b + i), load(d + i), dav, dbv);
          store(dav, da + i), store(dbv, db + i);
        },
        [&](Index i, Index rest) HWY_ATTR {
          V dav, dbv;
          piece(load_part(a + i, rest), load_part(b + i, rest), load_part(d + i, rest), dav, dbv);
          store_part(dav, da + i, rest), store_part(dbv, db + i, rest);
        });
  }
}

Index first_not_finite_range(Index n, const Real* x) {
  Index i = 0;
  for (const Index step = lanes(); i + step <= n; i += step)
    if (!hn::AllTrue(D(), hn::IsFinite(load(x + i)))) break;
  for (; i < n; ++i)
    if (!std::isfinite(x[i])) return i;
  return -1;
}

HWY_INLINE auto load_as_double(const float* x) {
  const hn::ScalableTag<double> wide;
  return hn::PromoteTo(wide, hn::LoadU(hn::Rebind<float, decltype(wide)>(), x));
}
HWY_INLINE auto load_as_double(const double* x) { return hn::LoadU(hn::ScalableTag<double>(), x); }

double sum_of_squares_range(Index n, const Real* x) {
  const hn::ScalableTag<double> wide;
  const Index step = static_cast<Index>(hn::Lanes(wide));
  auto even = hn::Zero(wide), odd = hn::Zero(wide);
  Index i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    const auto v = load_as_double(x + i), w = load_as_double(x + i + step);
    even = hn::MulAdd(v, v, even);
    odd = hn::MulAdd(w, w, odd);
  }
  double total = hn::GetLane(hn::SumOfLanes(wide, hn::Add(even, odd)));
  for (; i < n; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
constexpr Index kGrain = 32 * 1024;  // elements below which a second thread costs more than it brings

Index rows_per_thread(Index n) { return std::max<Index>(1, kGrain / std::max<Index>(n, 1)); }
}  // namespace

HWY_EXPORT(unary_range);
HWY_EXPORT(unary_backward_range);
HWY_EXPORT(binary_range);
HWY_EXPORT(scale_range);
HWY_EXPORT(bias_activation_rows);
HWY_EXPORT(glu_rows);
HWY_EXPORT(glu_backward_rows);
HWY_EXPORT(first_not_finite_range);
HWY_EXPORT(sum_of_squares_range);

void unary(Unary f, Index n, const Real* x, Real* y) {
  parallel_for(n, kGrain, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(unary_range)(f, end - begin, x + begin, y + begin);
  });
}

void unary_backward(Unary f, Index n, const Real* dy, const Real* saved, Real* dx) {
  parallel_for(n, kGrain, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(unary_backward_range)(f, end - begin, dy + begin, saved + begin, dx + begin);
  });
}

void binary(Binary f, Index rows, Index n, Operand a, Operand b, Real* out) {
  const bool packed = a.step == 1 && b.step == 1 && a.row_stride == n && b.row_stride == n;
  if (packed && rows > 1) {  // one long row: threads may cut anywhere
    parallel_for(rows * n, kGrain, [&](Index begin, Index end) {
      HWY_DYNAMIC_DISPATCH(binary_range)
      (f, 0, 1, end - begin, {a.data + begin, 0, 1}, {b.data + begin, 0, 1}, out + begin);
    });
    return;
  }
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(binary_range)(f, begin, end, n, a, b, out);
  });
}

void accumulate(Index n, const Real* x, Real* y) { binary(Binary::add, 1, n, {y, 0, 1}, {x, 0, 1}, y); }

void scale(Index n, Real factor, const Real* x, Real* y) {
  parallel_for(n, kGrain, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(scale_range)(end - begin, factor, x + begin, y + begin);
  });
}

void bias_activation(Unary f, Index rows, Index n, const Real* x, const Real* bias, Real* y) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(bias_activation_rows)(f, end - begin, n, x + begin * n, bias, y + begin * n);
  });
}

void glu(Index rows, Index n, const Real* x, Real* y) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(glu_rows)(end - begin, n, x + begin * 2 * n, y + begin * n);
  });
}

void glu_backward(Index rows, Index n, const Real* dy, const Real* x, Real* dx) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(glu_backward_rows)
    (end - begin, n, dy + begin * n, x + begin * 2 * n, dx + begin * 2 * n);
  });
}

void maxout(Index n, Index pieces, const Real* x, Real* y) {
  for (Index i = 0; i < n; ++i) {
    const Real* group = x + i * pieces;
    y[i] = *std::max_element(group, group + pieces, below);
  }
}

void maxout_backward(Index n, Index pieces, const Real* dy, const Real* x, Real* dx) {
  for (Index i = 0; i < n; ++i) {
    const Real* group = x + i * pieces;
    const Index largest = std::max_element(group, group + pieces, below) - group;
    for (Index piece = 0; piece < pieces; ++piece) dx[i * pieces + piece] = piece == largest ? dy[i] : Real{0};
  }
}

Index first_not_finite(Index n, const Real* x) { return HWY_DYNAMIC_DISPATCH(first_not_finite_range)(n, x); }

double sum_of_squares(Index n, const Real* x) { return HWY_DYNAMIC_DISPATCH(sum_of_squares_range)(n, x); }

}  // namespace heed::kernels
#endif
