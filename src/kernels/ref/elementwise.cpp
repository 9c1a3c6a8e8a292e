#include "heed/kernels/ref/elementwise.h"

#include <cmath>
#include <limits>

namespace heed::kernels::ref {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGeluScale = 0.7978845608028654, kGeluCubic = 0.044715;  // √(2/π)

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_argument(double x) { return kGeluScale * (x + kGeluCubic * x * x * x); }

double gelu(double x) {
  if (x == -kInfinity) return 0;  // the limit
  return 0.5 * x * (1 + std::tanh(gelu_argument(x)));
}

double gelu_slope(double x) {
  if (std::abs(x) == kInfinity) return x > 0;
  const double t = std::tanh(gelu_argument(x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kGeluScale * (1 + 3 * kGeluCubic * x * x);
}

double value(Unary f, double x) {
  switch (f) {
    case Unary::identity: return x;
    case Unary::negate: return -x;
    case Unary::tanh: return std::tanh(x);
    case Unary::sigmoid: return sigmoid(x);
    case Unary::relu: return x < 0 ? 0 : x;
    case Unary::relu6: return x < 0 ? 0 : x > 6 ? 6 : x;
    case Unary::gelu: return gelu(x);
    case Unary::exp: return std::exp(x);
    case Unary::log: return std::log(x);
    case Unary::sqrt: return std::sqrt(x);
    case Unary::square: return x * x;
  }
  return x;
}

// f' from what is saved: y where saves_output(f), else x.
double slope(Unary f, double saved) {
  switch (f) {
    case Unary::identity: return 1;
    case Unary::negate: return -1;
    case Unary::tanh: return 1 - saved * saved;
    case Unary::sigmoid: return saved * (1 - saved);
    case Unary::relu: return saved > 0;
    case Unary::relu6: return saved > 0 && saved < 6;
    case Unary::gelu: return gelu_slope(saved);
    case Unary::exp: return saved;
    case Unary::log: return 1 / saved;
    case Unary::sqrt: return 0.5 / saved;
    case Unary::square: return 2 * saved;
  }
  return 0;
}

double value(Binary f, double a, double b) {
  switch (f) {
    case Binary::add: return a + b;
    case Binary::subtract: return a - b;
    case Binary::multiply: return a * b;
    case Binary::divide: return a / b;
  }
  return a;
}

// The first largest of the group; the first NaN if there is one.
Index first_largest(Index size, const Real* group) {
  Index best = 0;
  for (Index i = 0; i < size; ++i) {
    if (std::isnan(group[i])) return i;
    if (group[i] > group[best]) best = i;
  }
  return best;
}

}  // namespace

void unary(Unary f, Index n, const Real* x, Real* y) {
  for (Index i = 0; i < n; ++i) y[i] = static_cast<Real>(value(f, x[i]));
}

void unary_backward(Unary f, Index n, const Real* dy, const Real* saved, Real* dx) {
  for (Index i = 0; i < n; ++i) dx[i] = static_cast<Real>(dy[i] * slope(f, saved[i]));
}

void binary(Binary f, Index rows, Index n, Operand a, Operand b, Real* out) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < n; ++i) {
      const Real left = a.data[row * a.row_stride + i * a.step], right = b.data[row * b.row_stride + i * b.step];
      out[row * n + i] = static_cast<Real>(value(f, left, right));
    }
  }
}

void accumulate(Index n, const Real* x, Real* y) {
  for (Index i = 0; i < n; ++i) y[i] += x[i];
}

void scale(Index n, Real factor, const Real* x, Real* y) {
  for (Index i = 0; i < n; ++i) y[i] = factor * x[i];
}

void bias_activation(Unary f, Index rows, Index n, const Real* x, const Real* bias, Real* y) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < n; ++i) {
      const double v = x[row * n + i];
      y[row * n + i] = static_cast<Real>(value(f, bias ? v + bias[i] : v));
    }
  }
}

void glu(Index rows, Index n, const Real* x, Real* y) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < n; ++i) {
      const double a = x[row * 2 * n + i], b = x[row * 2 * n + n + i];
      y[row * n + i] = static_cast<Real>(a * sigmoid(b));
    }
  }
}

void glu_backward(Index rows, Index n, const Real* dy, const Real* x, Real* dx) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < n; ++i) {
      const double a = x[row * 2 * n + i], b = x[row * 2 * n + n + i], d = dy[row * n + i];
      dx[row * 2 * n + i] = static_cast<Real>(d * sigmoid(b));
      dx[row * 2 * n + n + i] = static_cast<Real>(d * a * sigmoid(b) * (1 - sigmoid(b)));
    }
  }
}

void maxout(Index n, Index pieces, const Real* x, Real* y) {
  for (Index i = 0; i < n; ++i) y[i] = x[i * pieces + first_largest(pieces, x + i * pieces)];
}

void maxout_backward(Index n, Index pieces, const Real* dy, const Real* x, Real* dx) {
  for (Index i = 0; i < n; ++i) {
    const Index best = first_largest(pieces, x + i * pieces);
    for (Index piece = 0; piece < pieces; ++piece) dx[i * pieces + piece] = piece == best ? dy[i] : Real{0};
  }
}

Index first_not_finite(Index n, const Real* x) {
  for (Index i = 0; i < n; ++i)
    if (!std::isfinite(x[i])) return i;
  return -1;
}

double sum_of_squares(Index n, const Real* x) {
  double total = 0;
  for (Index i = 0; i < n; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}

}  // namespace heed::kernels::ref
