#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Yang et al. 2016, Hierarchical attention networks for document classification: one level: words of a sentence, or
// sentences of a document.
//   u_t = tanh(W h_t + b),  α = softmax(u_tᵀ u_w),  s = Σ α h
const RegisterMechanism hierarchical{
    {.name = "hierarchical",
     .paper = "Yang et al. 2016, Hierarchical attention networks for document classification",
     .equation = "a = softmax(u.tanh(W h + b)), s = sum a h",
     .options = composed_of("context"),
     .cost = {"O(n d)", "O(n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
