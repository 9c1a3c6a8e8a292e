#include "heed/kernels/ref/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::kernels::ref {
namespace {

constexpr double kInfiniteScore = std::numeric_limits<double>::infinity();

bool takes_part(RowMask mask, Index row, Index i) { return !mask.data || mask.data[row * mask.row_stride + i]; }

// log Σ exp over the positions that take part; -infinity if there are none, NaN if one is NaN or +infinity.
double log_sum_of_exp(Index row, Index n, const Real* x, RowMask mask) {
  double top = -kInfiniteScore;
  for (Index i = 0; i < n; ++i)
    if (takes_part(mask, row, i) && x[row * n + i] > top) top = x[row * n + i];
  double total = 0;
  bool any = false;
  for (Index i = 0; i < n; ++i) {
    const double v = x[row * n + i];
    if (!takes_part(mask, row, i) || v == -kInfiniteScore) continue;
    total += std::exp(v - top);
    any = true;
  }
  return any ? top + std::log(total) : -kInfiniteScore;
}

}  // namespace

void softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y) {
  for (Index r = 0; r < rows; ++r) {
    const double log_sum = log_sum_of_exp(r, n, x, mask);
    for (Index i = 0; i < n; ++i) {
      const Index at = r * n + i;
      if (std::isnan(log_sum)) {
        y[at] = std::numeric_limits<Real>::quiet_NaN();
      } else {
        y[at] = takes_part(mask, r, i) && log_sum != -kInfiniteScore ? static_cast<Real>(std::exp(x[at] - log_sum)) : 0;
      }
    }
  }
}

void softmax_backward(Index rows, Index n, const Real* dy, const Real* y, Real* dx) {
  for (Index r = 0; r < rows; ++r) {
    double inner = 0;
    for (Index i = r * n; i < (r + 1) * n; ++i) inner += static_cast<double>(dy[i]) * static_cast<double>(y[i]);
    for (Index i = r * n; i < (r + 1) * n; ++i) dx[i] = static_cast<Real>(y[i] * (dy[i] - inner));
  }
}

void log_softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y) {
  for (Index r = 0; r < rows; ++r) {
    const double log_sum = log_sum_of_exp(r, n, x, mask);
    for (Index i = 0; i < n; ++i) {
      const Index at = r * n + i;
      if (log_sum == -kInfiniteScore) {
        y[at] = 0;
      } else if (!takes_part(mask, r, i) || x[at] == -kInfiniteScore) {
        y[at] = std::numeric_limits<Real>::lowest();
      } else {
        y[at] = static_cast<Real>(x[at] - log_sum);
      }
    }
  }
}

void log_softmax_backward(Index rows, Index n, const Real* dy, const Real* y, RowMask mask, Real* dx) {
  for (Index r = 0; r < rows; ++r) {
    const bool empty = n > 1 && std::all_of(y + r * n, y + (r + 1) * n, [](Real log_p) { return log_p == 0; });
    double total = 0;
    for (Index i = 0; i < n; ++i)
      if (takes_part(mask, r, i)) total += static_cast<double>(dy[r * n + i]);
    for (Index i = 0; i < n; ++i) {
      const Index at = r * n + i;
      const double p = std::exp(static_cast<double>(y[at]));
      dx[at] = takes_part(mask, r, i) && !empty ? static_cast<Real>(dy[at] - p * total) : 0;
    }
  }
}

void cross_entropy(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                   Real* log_sum, Real* loss) {
  for (Index r = 0; r < rows; ++r) {
    if (targets[r] == weights.ignore) {
      log_sum[r] = loss[r] = 0;
      continue;
    }
    double lse = log_sum_of_exp(r, n, x, {});
    if (lse == -kInfiniteScore) lse = std::numeric_limits<double>::quiet_NaN();  // no distribution to take the loss of
    double expected = static_cast<double>(weights.on) * static_cast<double>(x[r * n + targets[r]]);
    if (weights.each != 0)
      for (Index i = r * n; i < (r + 1) * n; ++i)
        expected += static_cast<double>(weights.each) * static_cast<double>(x[i]);
    log_sum[r] = static_cast<Real>(lse);
    loss[r] = static_cast<Real>(lse - expected);
  }
}

void cross_entropy_backward(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                            const Real* log_sum, const Real* factor, Real* dx) {
  for (Index r = 0; r < rows; ++r) {
    for (Index i = 0; i < n; ++i) {
      const double p = std::exp(static_cast<double>(x[r * n + i]) - static_cast<double>(log_sum[r]));
      const double target = weights.each + (i == targets[r] ? static_cast<double>(weights.on) : 0.0);
      dx[r * n + i] = targets[r] == weights.ignore ? 0 : static_cast<Real>(factor[r] * (p - target));
    }
  }
}

}  // namespace heed::kernels::ref
