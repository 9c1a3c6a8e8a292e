#pragma once

#include "heed/base/real.h"

namespace heed::kernels {

// Functions of one number. `saved` of the backward is what the derivative is cheapest from: the output y for tanh,
// sigmoid, relu, relu6, exp and sqrt, the input x for the others (see saves_output).
enum class Unary { identity, negate, tanh, sigmoid, relu, relu6, gelu, exp, log, sqrt, square };
constexpr bool saves_output(Unary f) {
  return f == Unary::tanh || f == Unary::sigmoid || f == Unary::relu || f == Unary::relu6 || f == Unary::exp ||
         f == Unary::sqrt;
}

// y[i] = f(x[i]); y may be x. NaN stays NaN. gelu is the tanh form (Hendrycks & Gimpel 2016). Errors in float: exp,
// tanh and sigmoid as in simd-inl.h, log below 1 ulp; gelu below 4 ulp for x >= -1 and below 1e-7 for x < -1.
void unary(Unary f, Index n, const Real* x, Real* y);
// dx[i] = dy[i] f'(saved[i]); dx may be dy.
void unary_backward(Unary f, Index n, const Real* dy, const Real* saved, Real* dx);

enum class Binary { add, subtract, multiply, divide };

// One operand of a row-wise operation: element (row, i) stands at data[row * row_stride + i * step], step 0 or 1.
struct Operand {
  const Real* data;
  Index row_stride;
  Index step;
};
// out[row, i] = a(row, i) f b(row, i), out packed; out may be a or b if that one is packed.
void binary(Binary f, Index rows, Index n, Operand a, Operand b, Real* out);

// y[i] += x[i].
void accumulate(Index n, const Real* x, Real* y);
// y[i] = scale * x[i]; y may be x.
void scale(Index n, Real scale, const Real* x, Real* y);

// rows × n: y = f(x + bias), bias of n or null; y may be x.
void bias_activation(Unary f, Index rows, Index n, const Real* x, const Real* bias, Real* y);

// Gated linear unit, rows × 2n to rows × n: y = a ∘ σ(b), x = [a; b] in each row (Dauphin et al. 2017).
void glu(Index rows, Index n, const Real* x, Real* y);
void glu_backward(Index rows, Index n, const Real* dy, const Real* x, Real* dx);

// Maxout over `pieces` neighbours (Goodfellow et al. 2013): y[i] = max x[i*pieces .. i*pieces+pieces-1]. n outputs.
// NaN is larger than any number. The gradient goes to the first largest piece.
void maxout(Index n, Index pieces, const Real* x, Real* y);
void maxout_backward(Index n, Index pieces, const Real* dy, const Real* x, Real* dx);

// The position of the first value that is NaN or infinite, or -1.
Index first_not_finite(Index n, const Real* x);

// Sum of squares, accumulated in double whatever Real is.
double sum_of_squares(Index n, const Real* x);

}  // namespace heed::kernels
