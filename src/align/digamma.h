#pragma once

#include <cmath>

namespace heed {

// ψ(x) = d/dx log Γ(x) for x > 0: ψ(x) = ψ(x + 1) - 1/x until x is at least 6, then the asymptotic series
//   ψ(x) = log x - 1/(2x) - 1/(12x²) + 1/(120x⁴) - 1/(252x⁶) + …    (Abramowitz, Stegun 1964, 6.3.5 and 6.3.18)
inline double digamma(double x) {
  double sum = 0;
  for (; x < 6; x += 1) sum -= 1 / x;
  const double square = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240 - square / 132))));
}

}  // namespace heed
