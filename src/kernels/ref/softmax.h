#pragma once

#include "heed/kernels/softmax.h"

namespace heed::kernels::ref {

void softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y);
void softmax_backward(Index rows, Index n, const Real* dy, const Real* y, Real* dx);

void log_softmax(Index rows, Index n, const Real* x, RowMask mask, Real* y);
void log_softmax_backward(Index rows, Index n, const Real* dy, const Real* y, RowMask mask, Real* dx);

void cross_entropy(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                   Real* log_sum, Real* loss);
void cross_entropy_backward(Index rows, Index n, const Real* x, const std::int32_t* targets, TargetWeights weights,
                            const Real* log_sum, const Real* factor, Real* dx);

}  // namespace heed::kernels::ref
