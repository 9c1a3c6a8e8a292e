#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Bahdanau, Cho, Bengio 2015, Neural machine translation by jointly learning to align and translate: the alignment
// of RNNsearch; v and the biases start at zero, so the first weights are uniform.
//   e_ij = vᵀ tanh(W s_{i-1} + U h_j),  α = softmax(e),  c_i = Σ α_ij h_j
const RegisterMechanism bahdanau{
    {.name = "bahdanau",
     .paper = "Bahdanau, Cho, Bengio 2015, Neural machine translation by jointly learning to align and translate",
     .equation = "e = v.tanh(W s + U h), a = softmax(e), c = sum a h",
     .options = composed_of("additive"),
     .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
