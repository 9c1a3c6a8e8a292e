#pragma once

#include "heed/kernels/elementwise.h"

namespace heed::kernels::ref {

void unary(Unary f, Index n, const Real* x, Real* y);
void unary_backward(Unary f, Index n, const Real* dy, const Real* saved, Real* dx);

void binary(Binary f, Index rows, Index n, Operand a, Operand b, Real* out);
void accumulate(Index n, const Real* x, Real* y);
void scale(Index n, Real scale, const Real* x, Real* y);

void bias_activation(Unary f, Index rows, Index n, const Real* x, const Real* bias, Real* y);

void glu(Index rows, Index n, const Real* x, Real* y);
void glu_backward(Index rows, Index n, const Real* dy, const Real* x, Real* dx);

void maxout(Index n, Index pieces, const Real* x, Real* y);
void maxout_backward(Index n, Index pieces, const Real* dy, const Real* x, Real* dx);

Index first_not_finite(Index n, const Real* x);
double sum_of_squares(Index n, const Real* x);

}  // namespace heed::kernels::ref
