#pragma once

#include "heed/base/real.h"

// The pointwise part of one step of the recurrent cells, fused: gates, activations and state in one pass over the
// step's rows. The matrix products stand outside. Every array is packed, rows × hidden unless a shape is given; none
// overlaps another. Errors: tanh and sigmoid as in simd-inl.h. Results do not depend on the thread count.

namespace heed::kernels {

// Hochreiter & Schmidhuber 1997 with forget gates (Gers et al. 2000).
//   [i f g o] = [σ σ tanh σ](gates + bias),  c = f ∘ c' + i ∘ g,  h = o ∘ tanh(c)
// `gates` [rows, 4·hidden]: in, the sum of both products; out, the activated gates. bias of 4·hidden or null.
void lstm_forward(Index rows, Index hidden, const Real* bias, const Real* cell_before, Real* gates, Real* state,
                  Real* cell);
// `gates`: in, the activated gates; out, the gradient of what was activated. `dcell`: in, the gradient of c from later
// steps; out, of c'. The cell is computed again from the gates.
void lstm_backward(Index rows, Index hidden, const Real* dstate, const Real* cell_before, Real* gates, Real* dcell);

// Whether a large update gate z keeps the state (Cho et al. 2014, cuDNN): h = z ∘ h' + (1 - z) ∘ n, or takes the
// candidate (GroundHog, Bahdanau et al. 2015): h = (1 - z) ∘ h' + z ∘ n.
enum class UpdateGate { keeps_state, takes_candidate };

struct GruShape {
  Index rows, hidden;
  UpdateGate update;
};

// Reset after the product (cuDNN): n = tanh(gates_n + bias_n + r ∘ u),  u = recurrent_n + candidate_bias.
// `gates` [rows, 3·hidden], in the order r, z, n: in, the input's product; out, activated. `recurrent`
// [rows, 3·hidden]: the state's product. `inner`: out, u. The biases, of 3·hidden and hidden, may be null.
struct GruBiases {
  const Real* gates;
  const Real* candidate;
};
void gru_after_forward(GruShape shape, GruBiases biases, const Real* recurrent, const Real* before, Real* gates,
                       Real* inner, Real* state);
// `gates`: in, activated; out, the gradient of the state's product (r, z, u). `inner`: in, u; out, the gradient of
// gates_n. `dstate`: in, the gradient of h; out, the part of the gradient of h' that does not pass a product.
void gru_after_backward(GruShape shape, const Real* before, Real* gates, Real* inner, Real* dstate);

// Reset before the product (Cho et al. 2014): n = tanh(gates_n + (r ∘ h') U_n). Two parts, the product between them:
// the gates r and z, and `inner` = r ∘ h'; then the candidate and the new state. bias of 3·hidden or null.
// `gates` [rows, 3·hidden], in the order r, z, n: in, the sum of both products; out, activated.
void gru_before_gates(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* inner);
void gru_before_state(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* state);
// Backward in two parts as well. First z and n of `gates`: in, activated; out, gradients; `dstate` as in
// gru_after_backward. Then, from `dinner`, the gradient of r ∘ h', the r of `gates`, and `dstate` += r ∘ dinner.
void gru_before_backward_state(GruShape shape, const Real* before, Real* gates, Real* dstate);
void gru_before_backward_gates(GruShape shape, const Real* before, const Real* dinner, Real* gates, Real* dstate);

// to[c, r] = from[r, c], `from` rows × columns.
void transpose(Index rows, Index columns, const Real* from, Real* to);

}  // namespace heed::kernels
