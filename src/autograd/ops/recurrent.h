#pragma once

#include "heed/autograd/var.h"
#include "heed/kernels/recurrent.h"

// Recurrent cells, a whole padded sequence or a single step as one op. Everywhere x is [batch, time, in] (a step:
// [batch, in]) and a state [batch, hidden]; an empty state is zeros, an empty bias is none. A bias of the gates may be
// one per sentence, [batch, gates]: what a part of the input that is known beforehand has become, bias included.

namespace heed {

// Which part of the padded batch takes part, and in which direction.
struct SequenceOptions {
  Ids lengths;           // [batch], each 0..time; empty: all are of full length
  bool reverse = false;  // each sentence from its own last word to its first
};
// Padding never takes part: outputs there are zero, and so are the gradients. Output (b, t) is the state after
// reading x(b, t), in either direction; the last state is the one after a sentence's last word read (its first word if
// reversed), or the initial state of an empty sentence. Gradients flow through outputs and last states alike.

// Hochreiter & Schmidhuber 1997 with forget gates (Gers et al. 2000).
//   i, f, o = σ(x W + h' U + b),  g = tanh(x W + h' U + b),  c = f ∘ c' + i ∘ g,  h = o ∘ tanh(c)
// Gates stand in the order i, f, g, o.
struct LstmWeights {
  Var input;      // [in, 4·hidden]
  Var recurrent;  // [hidden, 4·hidden]
  Var bias;       // [4·hidden] or [batch, 4·hidden]
};
struct LstmState {
  Var hidden, cell;
};
struct LstmResult {
  Var outputs;  // [batch, time, hidden]
  LstmState last;
};
LstmResult lstm(const Var& x, const LstmWeights& weights, const LstmState& initial = {},
                const SequenceOptions& options = {});
LstmState lstm_step(const Var& x, const LstmState& before, const LstmWeights& weights);

// Two cells read the same words in opposite directions (Schuster & Paliwal 1997), on two threads where there are. The
// first reads as the options say. Outputs are joined: [batch, time, hidden of both].
template <class T>
struct Both {
  T ahead, back;
};
struct LstmBothResult {
  Var outputs;
  Both<LstmState> last;
};
LstmBothResult lstm_both_ways(const Var& x, const Both<LstmWeights>& weights, const Both<LstmState>& initial = {},
                              const SequenceOptions& options = {});

// Cho et al. 2014, in the published variants. Gates stand in the order r, z, n.
//   r, z = σ(x W + h' U + b)
//   n = tanh(x W + (r ∘ h') U + b)          reset before the product: Cho, Bahdanau
//   n = tanh(x W + b + r ∘ (h' U + b_n))    reset after it: cuDNN, PyTorch
//   h = z ∘ h' + (1 - z) ∘ n                the update gate keeps the state: Cho, cuDNN, PyTorch
//   h = (1 - z) ∘ h' + z ∘ n                or takes the candidate: GroundHog, Bahdanau
struct GruWeights {
  Var input;           // [in, 3·hidden]
  Var recurrent;       // [hidden, 3·hidden]
  Var bias;            // [3·hidden] or [batch, 3·hidden]
  Var candidate_bias;  // b_n [hidden]; only where the reset comes after
};
enum class GruReset { before_product, after_product };
using kernels::UpdateGate;
struct GruForm {
  GruReset reset = GruReset::after_product;
  UpdateGate update = UpdateGate::keeps_state;
};
struct GruResult {
  Var outputs;  // [batch, time, hidden]
  Var last;     // [batch, hidden]
};
GruResult gru(const Var& x, const GruWeights& weights, const Var& initial = {}, const GruForm& form = {},
              const SequenceOptions& options = {});
Var gru_step(const Var& x, const Var& before, const GruWeights& weights, const GruForm& form = {});
struct GruBothResult {
  Var outputs;
  Both<Var> last;
};
GruBothResult gru_both_ways(const Var& x, const Both<GruWeights>& weights, const Both<Var>& initial = {},
                            const GruForm& form = {}, const SequenceOptions& options = {});

}  // namespace heed
