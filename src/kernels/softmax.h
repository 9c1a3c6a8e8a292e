#pragma once

#include "heed/base/real.h"

namespace heed::kernels {

// Which positions of a row take part. Row r reads at data + r * row_stride; null data means all take part.
struct RowMask {
  const bool* data = nullptr;
  Index row_stride = 0;
};

// y[r, :] = softmax of x[r, :] over the positions that take part; 0 at the others. A row with no position is zeros.
// -infinity counts as a position that does not take part; NaN or +infinity at one that does makes the whole row NaN.
// y may be x. Relative error below (16 + max - x + n / lanes) 2^-24 in float: x - max and the sum are rounded.
void softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y);
// dx = y ∘ (dy - Σ dy ∘ y); dx may be dy.
void softmax_backward(Index rows, Index n, const Real* dy, const Real* y, Real* dx);

// log Σ exp x over n numbers; -infinity if all of them are, NaN if one is or is +infinity. By the calling thread alone.
Real log_sum_exp(Index n, const Real* x);

// The first place of the largest of n numbers; -1 if one of them is NaN or +infinity, or all are -infinity. By the
// calling thread alone.
Index largest_place(Index n, const Real* x);

// y[r, :] = x[r, :] - log Σ exp x[r, :] at positions that take part, the lowest finite number at the others, zeros in
// a row with no position; -infinity, +infinity and NaN as in softmax. y may be x. Error below (16 + n / lanes) 2^-24
// (1 + |x| + |y|) in float.
void log_softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y);
// dx = dy - exp(y) Σ dy over positions that take part, 0 at the others; dx may be dy.
void log_softmax_backward(Index rows, Index n, const Real* dy, const Real* y, RowMask mask, Real* dx);

// Cross-entropy with a target distribution of `on` at the target plus `each` at every class (on + each n = 1):
//   loss[r] = log Σ_j exp x[r, j] - on x[r, target] - each Σ_j x[r, j]
// log_sum[r] keeps log Σ exp. Rows whose target is `ignore` get loss 0. A class at -infinity is ruled out: the loss is
// infinite if it is the target or `each` is not 0. NaN, +infinity or nothing but -infinity in a row: the loss is NaN.
struct TargetWeights {
  Real on, each;
  std::int32_t ignore;
};
void cross_entropy(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                   Real* log_sum, Real* loss);
// dx[r, :] = factor[r] (softmax(x[r, :]) - each - on at the target); zeros for ignored rows. dx may be x.
void cross_entropy_backward(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                            const Real* log_sum, const Real* factor, Real* dx);

}  // namespace heed::kernels
