#include "heed/kernels/ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::kernels {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return low == kImpossible ? high : high + std::log1p(std::exp(low - high));
}

}  // namespace

double ctc_forward(Index frames, Index classes, const Real* p, const CtcLabels& target, double* alpha) {
  const Index places = target.places();
  if (frames == 0) return target.count == 0 ? 0 : kImpossible;
  for (Index t = 0; t < frames; ++t) {
    double* const now = alpha + t * places;
    const double* const before = now - places;
    for (Index s = 0; s < places; ++s) {
      double sum = t == 0 && s < 2 ? 0 : kImpossible;
      if (t > 0) {
        sum = before[s];
        if (s > 0) sum = log_add(sum, before[s - 1]);
        if (target.may_skip(s)) sum = log_add(sum, before[s - 2]);
      }
      now[s] = sum + static_cast<double>(p[t * classes + target.at(s)]);
    }
  }
  const double* const last = alpha + frames * places - 1;
  return places > 1 ? log_add(last[0], last[-1]) : last[0];
}

void ctc_backward(Index frames, Index classes, const Real* p, const CtcLabels& target, const double* alpha,
                  double log_probability, double* beta, Real* dz) {
  const Index places = target.places();
  double* now = beta;
  double* after = beta + places;
  for (Index t = frames; t-- > 0;) {
    const Real* const next = p + (t + 1) * classes;
    for (Index s = 0; s < places; ++s) {
      double sum = t + 1 == frames && s + 2 >= places ? 0 : kImpossible;
      if (t + 1 < frames) {
        const auto through = [&](Index place) { return after[place] + static_cast<double>(next[target.at(place)]); };
        sum = through(s);
        if (s + 1 < places) sum = log_add(sum, through(s + 1));
        if (s + 2 < places && target.may_skip(s + 2)) sum = log_add(sum, through(s + 2));
      }
      now[s] = sum;
    }
    Real* const row = dz + t * classes;
    for (Index k = 0; k < classes; ++k) row[k] = std::exp(p[t * classes + k]);
    for (Index s = 0; s < places; ++s)
      row[target.at(s)] -= static_cast<Real>(std::exp(alpha[t * places + s] + now[s] - log_probability));
    std::swap(now, after);
  }
}

}  // namespace heed::kernels
