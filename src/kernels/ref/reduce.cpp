#include "heed/kernels/ref/reduce.h"

#include <cmath>

namespace heed::kernels::ref {

void sum(Index outer, Index axis, Index inner, const Real* x, Real* y) {
  for (Index o = 0; o < outer; ++o) {
    for (Index i = 0; i < inner; ++i) {
      double total = 0;
      for (Index a = 0; a < axis; ++a) total += static_cast<double>(x[(o * axis + a) * inner + i]);
      y[o * inner + i] = static_cast<Real>(total);
    }
  }
}

void largest(Index outer, Index axis, Index inner, const Real* x, Real* y) {
  for (Index o = 0; o < outer; ++o) {
    for (Index i = 0; i < inner; ++i) {
      Real best = x[o * axis * inner + i];
      for (Index a = 1; a < axis; ++a) {
        const Real v = x[(o * axis + a) * inner + i];
        if (v > best || std::isnan(v)) best = v;
      }
      y[o * inner + i] = best;
    }
  }
}

void largest_backward(Index outer, Index axis, Index inner, const Real* dy, const Real* x, const Real* y, Real* dx) {
  for (Index o = 0; o < outer; ++o) {
    for (Index i = 0; i < inner; ++i) {
      const Real best = y[o * inner + i];
      bool found = false;
      for (Index a = 0; a < axis; ++a) {
        const Index at = (o * axis + a) * inner + i;
        const bool here = !found && (x[at] == best || (std::isnan(x[at]) && std::isnan(best)));
        dx[at] = here ? dy[o * inner + i] : Real{0};
        found = found || here;
      }
    }
  }
}

void spread(Index outer, Index axis, Index inner, Real scale, const Real* dy, Real* dx) {
  for (Index o = 0; o < outer; ++o)
    for (Index a = 0; a < axis; ++a)
      for (Index i = 0; i < inner; ++i) dx[(o * axis + a) * inner + i] = scale * dy[o * inner + i];
}

}  // namespace heed::kernels::ref
