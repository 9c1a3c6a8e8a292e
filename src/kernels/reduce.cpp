#include "heed/kernels/reduce.h"

#include <algorithm>

#include "heed/base/threads.h"
#include "heed/kernels/nan_order.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/reduce.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// The sum of one row, in four independent chains.
Real sum_row(Index n, const Real* x) {
  const Index step = lanes();
  V s0 = set(0), s1 = set(0), s2 = set(0), s3 = set(0);
  Index i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    s0 = hn::Add(s0, load(x + i));
    s1 = hn::Add(s1, load(x + i + step));
    s2 = hn::Add(s2, load(x + i + 2 * step));
    s3 = hn::Add(s3, load(x + i + 3 * step));
  }
  for (; i + step <= n; i += step) s0 = hn::Add(s0, load(x + i));
  if (i < n) s1 = hn::Add(s1, load_part(x + i, n - i));
  return sum_lanes(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

Real largest_of_row(Index n, const Real* x) {
  const Index step = lanes();
  if (n < step) return *std::max_element(x, x + n, below);
  V best = load(x);
  for (Index i = step; i + step <= n; i += step) best = larger(best, load(x + i));
  best = larger(best, load(x + n - step));  // the last ones, overlapping
  return max_lanes(best);
}

// Columns [begin, end) of an axis × inner block.
void sum_columns(Index axis, Index inner, Index begin, Index end, const Real* x, Real* y) {
  const Index step = lanes();
  Index i = begin;
  for (; i + 4 * step <= end; i += 4 * step) {
    V s0 = set(0), s1 = set(0), s2 = set(0), s3 = set(0);
    for (const Real* row = x + i; row < x + axis * inner; row += inner) {
      s0 = hn::Add(s0, load(row));
      s1 = hn::Add(s1, load(row + step));
      s2 = hn::Add(s2, load(row + 2 * step));
      s3 = hn::Add(s3, load(row + 3 * step));
    }
    store(s0, y + i), store(s1, y + i + step), store(s2, y + i + 2 * step), store(s3, y + i + 3 * step);
  }
  for (; i < end; i += step) {
    const Index rest = std::min(step, end - i);
    V s = set(0);
    for (Index a = 0; a < axis; ++a)
      s = hn::Add(s, rest == step ? load(x + a * inner + i) : load_part(x + a * inner + i, rest));
    if (rest == step) {
      store(s, y + i);
    } else {
      store_part(s, y + i, rest);
    }
  }
}

void largest_columns(Index axis, Index inner, const Real* x, Real* y) {
  std::copy_n(x, inner, y);
  for (Index a = 1; a < axis; ++a)
    transform(inner, y, x + a * inner, y, [](V best, V v) HWY_ATTR { return larger(best, v); });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
constexpr Index kGrain = 32 * 1024;
Index outer_per_thread(Index axis, Index inner) {
  return std::max<Index>(1, kGrain / std::max<Index>(axis * inner, 1));
}
}  // namespace

HWY_EXPORT(sum_row);
HWY_EXPORT(largest_of_row);
HWY_EXPORT(sum_columns);
HWY_EXPORT(largest_columns);

void sum(Index outer, Index axis, Index inner, const Real* x, Real* y) {
  if (inner == 1) {
    parallel_for(outer, outer_per_thread(axis, 1), [&](Index begin, Index end) {
      for (Index o = begin; o < end; ++o) y[o] = HWY_DYNAMIC_DISPATCH(sum_row)(axis, x + o * axis);
    });
  } else if (outer == 1) {  // threads share the columns
    parallel_for(inner, std::max<Index>(64, kGrain / std::max<Index>(axis, 1)), [&](Index begin, Index end) {
      HWY_DYNAMIC_DISPATCH(sum_columns)(axis, inner, begin, end, x, y);
    });
  } else {
    parallel_for(outer, outer_per_thread(axis, inner), [&](Index begin, Index end) {
      for (Index o = begin; o < end; ++o)
        HWY_DYNAMIC_DISPATCH(sum_columns)(axis, inner, 0, inner, x + o * axis * inner, y + o * inner);
    });
  }
}

void largest(Index outer, Index axis, Index inner, const Real* x, Real* y) {
  parallel_for(outer, outer_per_thread(axis, inner), [&](Index begin, Index end) {
    for (Index o = begin; o < end; ++o) {
      if (inner == 1) {
        y[o] = HWY_DYNAMIC_DISPATCH(largest_of_row)(axis, x + o * axis);
      } else {
        HWY_DYNAMIC_DISPATCH(largest_columns)(axis, inner, x + o * axis * inner, y + o * inner);
      }
    }
  });
}

void largest_backward(Index outer, Index axis, Index inner, const Real* dy, const Real* x, const Real* y, Real* dx) {
  std::fill_n(dx, outer * axis * inner, Real{0});
  for (Index o = 0; o < outer; ++o) {
    for (Index i = 0; i < inner; ++i) {
      for (Index a = 0; a < axis; ++a) {
        const Index at = (o * axis + a) * inner + i;
        if (below(x[at], y[o * inner + i])) continue;
        dx[at] = dy[o * inner + i];
        break;
      }
    }
  }
}

void spread(Index outer, Index axis, Index inner, Real factor, const Real* dy, Real* dx) {
  parallel_for(outer, outer_per_thread(axis, inner), [&](Index begin, Index end) {
    for (Index o = begin; o < end; ++o) {
      Real* to = dx + o * axis * inner;
      if (inner == 1) {
        std::fill_n(to, axis, factor * dy[o]);
      } else {
        for (Index a = 0; a < axis; ++a)
          for (Index i = 0; i < inner; ++i) to[a * inner + i] = factor * dy[o * inner + i];
      }
    }
  });
}

}  // namespace heed::kernels
#endif
