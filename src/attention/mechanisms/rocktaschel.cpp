#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Rocktäschel et al. 2016, Reasoning about entailment with neural attention: one look at the premise from the end of
// the hypothesis.
//   M = tanh(W^y Y + W^h h_N ⊗ e),  α = softmax(wᵀ M),  r = Y αᵀ
const RegisterMechanism rocktaschel{
    {.name = "rocktaschel",
     .paper = "Rocktäschel et al. 2016, Reasoning about entailment with neural attention",
     .equation = "a = softmax(w.tanh(Wy y + Wh h)), r = sum a y",
     .options = composed_of("concat"),
     .cost = {"O(m d)", "O(m)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
