#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Rocktäschel et al. 2016: a look at the premise for each word of the hypothesis.
//   M_t = tanh(W^y Y + (W^h h_t + W^r r_{t-1}) ⊗ e),  α_t = softmax(wᵀ M_t),  r_t = Y α_tᵀ + tanh(W^t r_{t-1})
const RegisterMechanism rocktaschel_word_by_word{
    {.name = "rocktaschel-word-by-word",
     .paper = "Rocktäschel et al. 2016",
     .equation = "a = softmax(w.tanh(Wy y + Wh h + Wr r')), r = sum a y + tanh(Wt r')",
     .options = composed_of("word-by-word"),
     .cost = {"O(n m d)", "O(n m)", "O(n)", "O(n)"}}};

}  // namespace
}  // namespace heed
