#pragma once

#include "heed/kernels/recurrent.h"

namespace heed::kernels::ref {

void lstm_forward(Index rows, Index hidden, const Real* bias, const Real* cell_before, Real* gates, Real* state,
                  Real* cell);
void lstm_backward(Index rows, Index hidden, const Real* dstate, const Real* cell_before, Real* gates, Real* dcell);

void gru_after_forward(GruShape shape, GruBiases biases, const Real* recurrent, const Real* before, Real* gates,
                       Real* inner, Real* state);
void gru_after_backward(GruShape shape, const Real* before, Real* gates, Real* inner, Real* dstate);

void gru_before_gates(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* inner);
void gru_before_state(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* state);
void gru_before_backward_state(GruShape shape, const Real* before, Real* gates, Real* dstate);
void gru_before_backward_gates(GruShape shape, const Real* before, const Real* dinner, Real* gates, Real* dstate);

void transpose(Index rows, Index columns, const Real* from, Real* to);

}  // namespace heed::kernels::ref
