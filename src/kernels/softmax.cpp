#include "heed/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/softmax.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

constexpr Real kNone = -std::numeric_limits<Real>::infinity();

// May miss a NaN, which the sum of exponentials meets again.
HWY_INLINE Real largest(Index n, const Real* x) {
  V best = hn::Set(D(), kNone);
  for_each_vector(
      n, [&](Index i) HWY_ATTR { best = hn::Max(best, load(x + i)); },
      [&](Index i, Index rest) HWY_ATTR {
        const M first = hn::FirstN(D(), static_cast<size_t>(rest));
        best = hn::Max(best, hn::IfThenElse(first, load_part(x + i, rest), hn::Set(D(), kNone)));
      });
  return max_lanes(best);
}

// Σ exp(x - shift); with `y`, also stores the terms.
HWY_INLINE Real sum_of_exp(Index n, const Real* x, Real shift, Real* y) {
  const V s = hn::Set(D(), shift);
  V total = set(0);
  for_each_vector(
      n,
      [&](Index i) HWY_ATTR {
        const V e = exp(hn::Sub(load(x + i), s));
        total = hn::Add(total, e);
        if (y) store(e, y + i);
      },
      [&](Index i, Index rest) HWY_ATTR {
        const V e = exp(hn::Sub(load_part(x + i, rest), s));
        total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(D(), static_cast<size_t>(rest)), e));
        if (y) store_part(e, y + i, rest);
      });
  return sum_lanes(total);
}

// The row as the maths sees it: positions that do not take part are -infinity.
HWY_INLINE const Real* masked_row(Index n, const Real* x, const bool* allowed, Real* scratch) {
  if (!allowed) return x;
  for (Index i = 0; i < n; ++i) scratch[i] = allowed[i] ? x[i] : kNone;
  return scratch;
}

// Whether no position takes part, given the largest value. A NaN among -infinities is not nothing.
HWY_INLINE bool is_empty(Index n, const Real* row, Real top) {
  return top == kNone && std::none_of(row, row + n, [](Real v) { return std::isnan(v); });
}

void softmax_rows(Index begin, Index end, Index n, const Real* x, RowMask mask, Real* y) {
  for (Index r = begin; r < end; ++r) {
    Real* to = y + r * n;
    const Real* from = masked_row(n, x + r * n, mask.data ? mask.data + r * mask.row_stride : nullptr, to);
    const Real top = largest(n, from);
    if (is_empty(n, from, top)) {
      std::fill_n(to, n, Real{0});
      continue;
    }
    const V inverse = hn::Set(D(), Real{1} / sum_of_exp(n, from, top, to));
    transform(n, to, to, [&](V e) HWY_ATTR { return hn::Mul(e, inverse); });
  }
}

void softmax_backward_rows(Index begin, Index end, Index n, const Real* dy, const Real* y, Real* dx) {
  for (Index r = begin; r < end; ++r) {
    const V inner = hn::Set(D(), dot(n, dy + r * n, y + r * n));
    transform(n, dy + r * n, y + r * n, dx + r * n, [&](V d, V p) HWY_ATTR { return hn::Mul(p, hn::Sub(d, inner)); });
  }
}

Real log_sum_exp_of(Index n, const Real* x) {
  const Real top = largest(n, x);
  return is_empty(n, x, top) ? kNone : top + std::log(sum_of_exp(n, x, top, nullptr));
}

Index largest_place_of(Index n, const Real* x) {
  V best = hn::Set(D(), kNone);
  M fine = hn::FirstN(D(), static_cast<size_t>(lanes()));
  const auto see = [&](V v) HWY_ATTR {
    best = hn::Max(best, v);
    fine = hn::And(fine, hn::Lt(v, hn::Set(D(), -kNone)));
  };
  const auto part = [&](Index i, Index rest) HWY_ATTR {
    const M first = hn::FirstN(D(), static_cast<size_t>(rest));
    return hn::IfThenElse(first, load_part(x + i, rest), hn::Set(D(), kNone));
  };
  for_each_vector(
      n, [&](Index i) HWY_ATTR { see(load(x + i)); }, [&](Index i, Index rest) HWY_ATTR { see(part(i, rest)); });
  const Real top = max_lanes(best);
  if (top == kNone || !hn::AllTrue(D(), fine)) return -1;
  Index at = 0;
  for (; at + lanes() <= n; at += lanes())
    if (const auto found = hn::FindFirstTrue(D(), hn::Eq(load(x + at), hn::Set(D(), top))); found >= 0)
      return at + static_cast<Index>(found);
  while (x[at] != top) ++at;
  return at;
}

void log_softmax_rows(Index begin, Index end, Index n, const Real* x, RowMask mask, Real* y) {
  for (Index r = begin; r < end; ++r) {
    Real* to = y + r * n;
    const Real* from = masked_row(n, x + r * n, mask.data ? mask.data + r * mask.row_stride : nullptr, to);
    const Real top = largest(n, from);
    if (is_empty(n, from, top)) {
      std::fill_n(to, n, Real{0});
      continue;
    }
    const V shift = hn::Set(D(), top + std::log(sum_of_exp(n, from, top, nullptr)));
    // A masked -infinity becomes the lowest finite number.
    transform(n, from, to, [&](V v) HWY_ATTR {
      const V shifted = hn::Sub(v, shift);
      return hn::IfThenElse(hn::Eq(v, hn::Set(D(), kNone)), hn::Set(D(), std::numeric_limits<Real>::lowest()), shifted);
    });
  }
}

void log_softmax_backward_rows(Index begin, Index end, Index n, const Real* dy, const Real* y, RowMask mask, Real* dx) {
  for (Index r = begin; r < end; ++r) {
    const Real* d = dy + r * n;
    Real* to = dx + r * n;
    // Only a row of which nothing took part has two log-probabilities of zero.
    if (n > 1 && std::all_of(y + r * n, y + (r + 1) * n, [](Real log_p) { return log_p == 0; })) {
      std::fill_n(to, n, Real{0});
      continue;
    }
    const bool* allowed = mask.data ? mask.data + r * mask.row_stride : nullptr;
    if (allowed) {
      for (Index i = 0; i < n; ++i) to[i] = allowed[i] ? d[i] : Real{0};
      d = to;
    }
    V total = set(0);
    for_each_vector(
        n, [&](Index i) HWY_ATTR { total = hn::Add(total, load(d + i)); },
        [&](Index i, Index rest) HWY_ATTR { total = hn::Add(total, load_part(d + i, rest)); });
    const V sum = hn::Set(D(), sum_lanes(total));
    transform(n, d, y + r * n, to, [&](V v, V log_p) HWY_ATTR { return hn::NegMulAdd(exp(log_p), sum, v); });
    if (allowed)
      for (Index i = 0; i < n; ++i) to[i] = allowed[i] ? to[i] : Real{0};
  }
}

void cross_entropy_rows(Index begin, Index end, Index n, const Real* x, const std::int32_t* targets,
                        TargetWeights weights, Real* log_sum, Real* loss) {
  for (Index r = begin; r < end; ++r) {
    if (targets[r] == weights.ignore) {
      log_sum[r] = loss[r] = 0;
      continue;
    }
    const Real* row = x + r * n;
    const Real top = largest(n, row);
    const Real lse = top + std::log(sum_of_exp(n, row, top, nullptr));
    Real expected = weights.on * row[targets[r]];
    if (weights.each != 0) {
      V total = set(0);
      for_each_vector(
          n, [&](Index i) HWY_ATTR { total = hn::Add(total, load(row + i)); },
          [&](Index i, Index rest) HWY_ATTR { total = hn::Add(total, load_part(row + i, rest)); });
      expected += weights.each * sum_lanes(total);
    }
    log_sum[r] = lse;
    loss[r] = lse - expected;
  }
}

void cross_entropy_backward_rows(Index begin, Index end, Index n, const Real* x, const std::int32_t* targets,
                                 TargetWeights weights, const Real* log_sum, const Real* factor, Real* dx) {
  for (Index r = begin; r < end; ++r) {
    Real* to = dx + r * n;
    if (targets[r] == weights.ignore) {
      std::fill_n(to, n, Real{0});
      continue;
    }
    const V lse = hn::Set(D(), log_sum[r]), each = hn::Set(D(), weights.each), scale = hn::Set(D(), factor[r]);
    transform(n, x + r * n, to, [&](V v) HWY_ATTR { return hn::Mul(scale, hn::Sub(exp(hn::Sub(v, lse)), each)); });
    to[targets[r]] -= factor[r] * weights.on;
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
Index rows_per_thread(Index n) { return std::max<Index>(1, 16 * 1024 / std::max<Index>(n, 1)); }
}  // namespace

HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_backward_rows);
HWY_EXPORT(log_sum_exp_of);
HWY_EXPORT(largest_place_of);
HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(log_softmax_backward_rows);
HWY_EXPORT(cross_entropy_rows);
HWY_EXPORT(cross_entropy_backward_rows);

void softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(softmax_rows)(begin, end, n, x, mask, y);
  });
}

void softmax_backward(Index rows, Index n, const Real* dy, const Real* y, Real* dx) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(softmax_backward_rows)(begin, end, n, dy, y, dx);
  });
}

Real log_sum_exp(Index n, const Real* x) { return HWY_DYNAMIC_DISPATCH(log_sum_exp_of)(n, x); }

Index largest_place(Index n, const Real* x) { return HWY_DYNAMIC_DISPATCH(largest_place_of)(n, x); }

void log_softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(log_softmax_rows)(begin, end, n, x, mask, y);
  });
}

void log_softmax_backward(Index rows, Index n, const Real* dy, const Real* y, RowMask mask, Real* dx) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(log_softmax_backward_rows)(begin, end, n, dy, y, mask, dx);
  });
}

void cross_entropy(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                   Real* log_sum, Real* loss) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(cross_entropy_rows)(begin, end, n, x, targets, weights, log_sum, loss);
  });
}

void cross_entropy_backward(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                            const Real* log_sum, const Real* factor, Real* dx) {
  parallel_for(rows, rows_per_thread(n), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(cross_entropy_backward_rows)
    (begin, end, n, x, targets, weights, log_sum, factor, dx);
  });
}

}  // namespace heed::kernels
#endif
