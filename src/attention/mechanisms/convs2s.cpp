#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Gehring et al. 2017, Convolutional sequence to sequence learning: multi-step attention: the memory's values differ
// from its keys.
//   d = W h + b + g,  a = softmax(d·z),  c = Σ a (z + e): keys z, values z + e, in every decoder layer
const RegisterMechanism convs2s{{.name = "convs2s",
                                 .paper = "Gehring et al. 2017, Convolutional sequence to sequence learning",
                                 .equation = "a = softmax(d.z), c = sum a (z + e)",
                                 .options = composed_of("dot"),
                                 .cost = {"O(n m d)", "O(n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
