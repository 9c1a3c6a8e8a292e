#include "heed/autograd/ops/sparse_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/autograd/tensor_math.h"
#include "heed/base/threads.h"

namespace heed {
namespace {

// The numbers of one row that take part and may get a weight, largest first; false if one that takes part is NaN and
// there is no order. A weight is at most 1, so only what is within `reach` of the largest number can have one: mostly
// few, and only these need be sorted.
bool sorted_row(const Real* x, const bool* allowed, Index n, Real reach, std::vector<double>& sorted) {
  sorted.clear();
  Real largest = -std::numeric_limits<Real>::infinity();
  bool any_nan = false;
  for (Index j = 0; j < n; ++j) {
    const bool takes_part = !allowed || allowed[j];
    any_nan |= takes_part && std::isnan(x[j]);
    largest = takes_part && x[j] > largest ? x[j] : largest;
  }
  if (any_nan) return false;
  for (Index j = 0; j < n; ++j)
    if (x[j] >= largest - reach && (!allowed || allowed[j])) sorted.push_back(static_cast<double>(x[j]));
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return true;
}

// τ of sparsemax: with the k largest as support, Σ (x - τ) = 1; the support is the largest k whose own members stay
// above τ.
double sparsemax_threshold(const std::vector<double>& sorted) {
  double sum = 0, threshold = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const double candidate = (sum - 1) / static_cast<double>(k + 1);
    if (sorted[k] <= candidate) break;
    threshold = candidate;
  }
  return threshold;
}

// τ of 1.5-entmax: with z = x/2 and the k largest as support, Σ (z - τ)² = 1, a quadratic in τ:
// τ = mean - √((1 - k · variance) / k). Counted from the largest z, so that the variance of large numbers stays exact.
double entmax15_threshold(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0;
  const double largest = sorted[0] / 2;
  double sum = 0, squares = 0, threshold = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const double z = sorted[k] / 2 - largest, count = static_cast<double>(k + 1);
    sum += z;
    squares += z * z;
    const double mean = sum / count, spread = squares - count * mean * mean;
    if (1 - spread < 0) break;
    const double candidate = mean - std::sqrt((1 - spread) / count);
    if (z < candidate) break;
    threshold = candidate;
  }
  return largest + threshold;
}

// Rows a thread should have at least.
Index row_grain(Index n) { return std::max<Index>(1, 2048 / std::max<Index>(n, 1)); }

// Calls body(x, allowed, sorted, y) for every row; `sorted` is what lies within `reach` of its largest number.
template <class Body>
Tensor by_row(const char* op, const Tensor& x, const Mask& given, Real reach, const Body& body) {
  require(x.rank() >= 1, "[{}] needs at least one axis", op);
  const Mask mask = fitted(given, x.shape(), op).contiguous();
  Tensor y(x.shape());
  const Index n = x.size(-1), rows = n == 0 ? 0 : x.size() / n;
  parallel_for(rows, row_grain(n), [&](Index begin, Index end) {
    std::vector<double> sorted;
    for (Index r = begin; r < end; ++r) {
      const bool* allowed = mask ? mask.data() + r * n : nullptr;
      Real* to = y.data() + r * n;
      if (sorted_row(x.data() + r * n, allowed, n, reach, sorted)) {
        body(x.data() + r * n, allowed, sorted, to);
      } else {
        for (Index j = 0; j < n; ++j) to[j] = !allowed || allowed[j] ? std::numeric_limits<Real>::quiet_NaN() : Real{0};
      }
    }
  });
  return y;
}

// dx by rows: body(y, dy, dx) for every row.
template <class Body>
Tensor gradient_by_row(const Tensor& y, const Tensor& dy, Index n, const Body& body) {
  Tensor dx(y.shape());
  parallel_for(n == 0 ? 0 : y.size() / n, row_grain(n), [&](Index begin, Index end) {
    for (Index at = begin * n; at < end * n; at += n) body(y.data() + at, dy.data() + at, dx.data() + at);
  });
  return dx;
}

}  // namespace

// With the support S = {y > 0}:  dx = dy - mean of dy over S on S, 0 elsewhere.
Var sparsemax(const Var& x, const Mask& mask) {
  const Index n = x.rank() >= 1 ? x.size(-1) : 0;
  const Tensor y = by_row("sparsemax", x.value().contiguous(), mask, 1,
                          [n](const Real* from, const bool* allowed, const std::vector<double>& sorted, Real* to) {
                            const double threshold = sparsemax_threshold(sorted);
                            for (Index j = 0; j < n; ++j) {
                              const double above = static_cast<double>(from[j]) - threshold;
                              to[j] = (!allowed || allowed[j]) && above > 0 ? static_cast<Real>(above) : Real{0};
                            }
                          });
  return record("sparsemax", y, {x}, [y, n](const Tensor& dy) {
    return grads(gradient_by_row(y, dy, n, [n](const Real* weights, const Real* given, Real* to) {
      double sum = 0;
      Index support = 0;
      for (Index j = 0; j < n; ++j) {
        if (weights[j] <= 0) continue;
        sum += static_cast<double>(given[j]);
        ++support;
      }
      const Real mean = support == 0 ? Real{0} : static_cast<Real>(sum / static_cast<double>(support));
      for (Index j = 0; j < n; ++j) to[j] = weights[j] > 0 ? given[j] - mean : Real{0};
    }));
  });
}

// With s = √y:  dx = s ∘ (dy - Σ s dy / Σ s).
Var entmax15(const Var& x, const Mask& mask) {
  const Index n = x.rank() >= 1 ? x.size(-1) : 0;
  const Tensor y = by_row("entmax15", x.value().contiguous(), mask, 2,
                          [n](const Real* from, const bool* allowed, const std::vector<double>& sorted, Real* to) {
                            const double threshold = entmax15_threshold(sorted);
                            for (Index j = 0; j < n; ++j) {
                              const double above = static_cast<double>(from[j]) / 2 - threshold;
                              const bool taken = (!allowed || allowed[j]) && above > 0;
                              to[j] = taken ? static_cast<Real>(above * above) : Real{0};
                            }
                          });
  return record("entmax15", y, {x}, [y, n](const Tensor& dy) {
    return grads(gradient_by_row(y, dy, n, [n](const Real* weights, const Real* given, Real* to) {
      double weighted = 0, total = 0;
      for (Index j = 0; j < n; ++j) {
        const double s = std::sqrt(static_cast<double>(weights[j]));
        weighted += s * static_cast<double>(given[j]);
        total += s;
      }
      const double mean = total == 0 ? 0 : weighted / total;
      for (Index j = 0; j < n; ++j)
        to[j] = static_cast<Real>(std::sqrt(static_cast<double>(weights[j])) * (static_cast<double>(given[j]) - mean));
    }));
  });
}

// Backward runs the scan from the end: with g_j = dL/dq_j,
//   g_j = dα_j p_j + (1 - p_j) g_{j+1},  dp_j = q_j (dα_j - g_{j+1}),  dprevious_j = g_j.
Var monotonic_weights(const Var& p, const Var& previous) {
  require(p.rank() >= 1 && p.shape() == previous.shape(), "[monotonic] probabilities {} and previous weights {} differ",
          p.shape(), previous.shape());
  const Tensor stop = p.value().contiguous(), before = previous.value().contiguous();
  const Index m = p.size(-1);
  Tensor reach(p.shape()), weights(p.shape());
  for (Index at = 0; at < p.size(); at += m) {
    Real q = 0;
    for (Index j = at; j < at + m; ++j) {
      q = (j == at ? Real{0} : (Real{1} - stop.data()[j - 1]) * q) + before.data()[j];
      reach.data()[j] = q;
      weights.data()[j] = stop.data()[j] * q;
    }
  }
  return record("monotonic", weights, {p, previous}, [stop, reach, m](const Tensor& dy) {
    Tensor dp(stop.shape()), dprevious(stop.shape());
    for (Index at = 0; at < stop.size(); at += m) {
      Real after = 0;  // g_{j+1}
      for (Index j = at + m - 1; j >= at; --j) {
        dp.data()[j] = reach.data()[j] * (dy.data()[j] - after);
        after = dy.data()[j] * stop.data()[j] + (Real{1} - stop.data()[j]) * after;
        dprevious.data()[j] = after;
      }
    }
    return grads(dp, dprevious);
  });
}

}  // namespace heed
