#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Lin et al. 2017, A structured self-attentive sentence embedding: r rows of weights; their penalty is row_penalty
// in losses.h.
//   A = softmax(W₂ tanh(W₁ Hᵀ)),  M = A H
const RegisterMechanism structured{{.name = "structured",
                                    .paper = "Lin et al. 2017, A structured self-attentive sentence embedding",
                                    .equation = "A = softmax(W2 tanh(W1 H')), M = A H",
                                    .options = composed_of("rows"),
                                    .cost = {"O(r n d)", "O(r n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
