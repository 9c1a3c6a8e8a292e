// Per-target building blocks of the SIMD kernels: vector maths and loops that never touch memory beyond the range.
// Included again for each SIMD target, hence the toggled guard (the Highway convention for "-inl.h" files).
#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "heed/base/real.h"

#if defined(HEED_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_INL_H_
#undef HEED_KERNELS_SIMD_INL_H_
#else
#define HEED_KERNELS_SIMD_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<Real>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr bool kFloat = std::is_same_v<Real, float>;

HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(D())); }
HWY_INLINE V set(double value) { return hn::Set(D(), static_cast<Real>(value)); }
HWY_INLINE V load(const Real* from) { return hn::LoadU(D(), from); }
HWY_INLINE void store(V value, Real* to) { hn::StoreU(value, D(), to); }
// The first `count` < lanes() elements; the others read as zero and are not written.
HWY_INLINE V load_part(const Real* from, Index count) {
#if HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2
  // Without masked loads Highway's MaskedLoad is a whole, aligned load, which may read where nothing is mapped.
  HWY_ALIGN Real lane[hn::MaxLanes(D())] = {};
  for (Index i = 0; i < count; ++i) lane[i] = from[i];
  return hn::Load(D(), lane);
#else
  return hn::MaskedLoad(hn::FirstN(D(), static_cast<size_t>(count)), D(), from);
#endif
}
HWY_INLINE void store_part(V value, Real* to, Index count) {
  hn::BlendedStore(value, hn::FirstN(D(), static_cast<size_t>(count)), D(), to);
}
HWY_INLINE Real sum_lanes(V value) { return hn::GetLane(hn::SumOfLanes(D(), value)); }

// The smaller and the larger of a and b, and b where b is NaN: what x86 and Arm do, but Highway's scalar target does
// not.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE V min_or_nan(V a, V b) { return hn::IfThenElse(hn::Lt(a, b), a, b); }
HWY_INLINE V max_or_nan(V a, V b) { return hn::IfThenElse(hn::Gt(a, b), a, b); }
#else
HWY_INLINE V min_or_nan(V a, V b) { return hn::Min(a, b); }
HWY_INLINE V max_or_nan(V a, V b) { return hn::Max(a, b); }
#endif
HWY_INLINE V at_most(V x, double limit) { return min_or_nan(set(limit), x); }
HWY_INLINE V at_least(V x, double limit) { return max_or_nan(set(limit), x); }

// For running maxima: NaN once either is NaN.
HWY_INLINE V larger(V best, V v) { return hn::IfThenElse(hn::IsNaN(v), v, max_or_nan(v, best)); }
HWY_INLINE Real max_lanes(V value) {
  if (!hn::AllFalse(D(), hn::IsNaN(value))) return std::numeric_limits<Real>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(D(), value));
}

// exp(x) - 1 = 2^n (e^r - 1) + (2^n - 1) with x = n ln 2 + r, |r| <= ln 2 / 2; e^r - 1 is r times a Taylor sum long
// enough for the type. The pieces are shared by exp, sigmoid and tanh.
using Exponent = hn::Vec<hn::RebindToSigned<D>>;
constexpr int kBias = kFloat ? 127 : 1023, kMantissa = kFloat ? 23 : 52;
struct ExpParts {
  V fraction;       // e^r - 1
  Exponent biased;  // n + kBias in the lowest bits, others above
};

template <class TypeTag = Real>
HWY_INLINE V expm1_of_small(V r) {
  // 1/(k+1)! from the highest power down.
  V sum;
  if constexpr (std::is_same_v<TypeTag, float>) {
    sum = set(1.0 / 5040);
  } else {
    sum = set(1.0 / 6227020800.0);
    sum = hn::MulAdd(sum, r, set(1.0 / 479001600));
    sum = hn::MulAdd(sum, r, set(1.0 / 39916800));
    sum = hn::MulAdd(sum, r, set(1.0 / 3628800));
    sum = hn::MulAdd(sum, r, set(1.0 / 362880));
    sum = hn::MulAdd(sum, r, set(1.0 / 40320));
    sum = hn::MulAdd(sum, r, set(1.0 / 5040));
  }
  sum = hn::MulAdd(sum, r, set(1.0 / 720));
  sum = hn::MulAdd(sum, r, set(1.0 / 120));
  sum = hn::MulAdd(sum, r, set(1.0 / 24));
  sum = hn::MulAdd(sum, r, set(1.0 / 6));
  sum = hn::MulAdd(sum, r, set(0.5));
  sum = hn::MulAdd(sum, r, set(1.0));
  return hn::Mul(sum, r);
}

// Added to a number, leaves it rounded to a whole in the lowest bits of the mantissa, with the bias of an exponent.
constexpr double kShift = (kFloat ? 0x1.8p23 : 0x1.8p52) + kBias;

HWY_INLINE ExpParts exp_parts(V x) {
  const V shifted = hn::MulAdd(x, set(1.4426950408889634), set(kShift));
  const V n = hn::Sub(shifted, set(kShift));
  // ln 2 in two parts: the first has trailing zeros, so that n times it is exact.
  V r = hn::NegMulAdd(n, set(kFloat ? 0.693145751953125 : 0.69314718036912382), x);
  r = hn::NegMulAdd(n, set(kFloat ? 1.428606765330187e-06 : 1.9082149292705877e-10), r);
  return {expm1_of_small(r), hn::BitCast(hn::RebindToSigned<D>(), shifted)};
}

// 2^n while that is a normal number.
HWY_INLINE V power_of_two(Exponent biased) { return hn::BitCast(D(), hn::ShiftLeft<kMantissa>(biased)); }

// e^x. Error below 1.5 ulp, denormal results included; 0 below the range, infinity above, NaN for NaN.
HWY_INLINE V exp(V x) {
  x = at_least(at_most(x, kFloat ? 89.0 : 710.0), kFloat ? -104.0 : -746.0);
  const ExpParts p = exp_parts(x);
  // 2^n as a product of two powers, as n may leave the exponent range by half.
  const hn::RebindToSigned<D> di;
  const Exponent n = hn::Sub(p.biased, hn::BitCast(di, set(kShift))), half = hn::ShiftRight<1>(n);
  const V first = power_of_two(hn::Add(half, hn::Set(di, kBias))), second = power_of_two(hn::Sub(p.biased, half));
  return hn::Mul(hn::Mul(hn::Add(p.fraction, set(1)), first), second);
}

// a / b for b in [1, 2^126] and finite a. Error below 1 ulp. AVX-512 takes a cycle a lane to divide floats; an estimate
// of 14 bits and a step that corrects the quotient by its remainder take a quarter of that.
HWY_INLINE V quotient(V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3 && !defined(HEED_DOUBLE)
  const V estimate = hn::ApproximateReciprocal(b);
  const V near = hn::Mul(a, estimate);
  return hn::MulAdd(hn::NegMulAdd(b, near, a), estimate, near);
#else
  return hn::Div(a, b);
#endif
}

// e^{2x} - 1 for |x| <= 10 in float, to the accuracy that tanh needs: an error in x matters little where |x| is large,
// so 2x = n ln 2 + f ln 2 is split in one step, by FMA. 2^f - 1 is a minimax polynomial (scripts/exp2_coefficients.py),
// error 0.34 * 2^-24.
HWY_INLINE V expm1_of_twice(V x) {
  const V shifted = hn::MulAdd(x, set(2.8853900817779268), set(kShift));
  const V f = hn::MulSub(x, set(2.8853900817779268), hn::Sub(shifted, set(kShift)));
  V sum = hn::MulAdd(set(0.00015403518045786768), f, set(0.0013390678213909268));
  sum = hn::MulAdd(sum, f, set(0.009618237614631653));
  sum = hn::MulAdd(sum, f, set(0.05550357699394226));
  sum = hn::MulAdd(sum, f, set(0.24022649228572845));
  sum = hn::MulAdd(sum, f, set(0.6931471824645996));
  const V scale = power_of_two(hn::BitCast(hn::RebindToSigned<D>(), shifted));
  return hn::MulAdd(hn::Mul(sum, f), scale, hn::Sub(scale, set(1)));
}

// tanh x = t / (t + 2), t = e^{2x} - 1: no cancellation near 0. Error below 4 ulp.
HWY_INLINE V tanh(V x) {
  x = at_least(at_most(x, kFloat ? 10.0 : 20.0), kFloat ? -10.0 : -20.0);  // beyond, tanh rounds to 1
  V t;
  if constexpr (kFloat && HWY_NATIVE_FMA) {
    t = expm1_of_twice(x);
  } else {
    const ExpParts p = exp_parts(hn::Add(x, x));
    const V scale = power_of_two(p.biased);
    t = hn::MulAdd(p.fraction, scale, hn::Sub(scale, set(1)));
  }
  return quotient(t, hn::Add(t, set(2)));
}

// 1 / (1 + e^{-x}). Error below 3 ulp; 0 where the result would hardly be a normal number.
HWY_INLINE V sigmoid(V x) {
  constexpr double kEnd = kFloat ? 87.3 : 708.3;  // e^{-x} and its inverse are normal numbers within
  const ExpParts p = exp_parts(at_least(at_most(hn::Neg(x), kEnd), -kEnd));
  const V scale = power_of_two(p.biased);
  const V y = quotient(set(1), hn::MulAdd(p.fraction, scale, hn::Add(scale, set(1))));
  return hn::IfThenZeroElse(hn::Lt(x, set(-kEnd)), y);
}

// Applies f to n elements in order: f(count, offset) with count = lanes() for whole vectors, less for the last.
template <class F>
HWY_INLINE void for_each_vector(Index n, const F& whole, const auto& part) {
  Index i = 0;
  for (const Index step = lanes(); i + step <= n; i += step) whole(i);
  if (i < n) part(i, n - i);
}

// y[i] = f(x[i]).
template <class F>
HWY_INLINE void transform(Index n, const Real* x, Real* y, const F& f) {
  for_each_vector(
      n, [&](Index i) HWY_ATTR { store(f(load(x + i)), y + i); },
      [&](Index i, Index rest) HWY_ATTR { store_part(f(load_part(x + i, rest)), y + i, rest); });
}

// y[i] = f(a[i], b[i]).
template <class F>
HWY_INLINE void transform(Index n, const Real* a, const Real* b, Real* y, const F& f) {
  for_each_vector(
      n, [&](Index i) HWY_ATTR { store(f(load(a + i), load(b + i)), y + i); },
      [&](Index i, Index rest)
          HWY_ATTR { store_part(f(load_part(a + i, rest), load_part(b + i, rest)), y + i, rest); });
}

// Σ a[i] b[i].
HWY_INLINE Real dot(Index n, const Real* a, const Real* b) {
  V total = set(0);
  for_each_vector(
      n, [&](Index i) HWY_ATTR { total = hn::MulAdd(load(a + i), load(b + i), total); },
      [&](Index i, Index rest) HWY_ATTR { total = hn::MulAdd(load_part(a + i, rest), load_part(b + i, rest), total); });
  return sum_lanes(total);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
