#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Vaswani et al. 2017: the decoder's self-attention.
//   α = softmax(Q Kᵀ / √d) over j <= i
const RegisterMechanism transformer_causal{{.name = "transformer-causal",
                                            .paper = "Vaswani et al. 2017",
                                            .equation = "a = softmax(Q K' / sqrt(d)), j <= i",
                                            .options = composed_of("scaled-dot", "causal"),
                                            .cost = {"O(n² d)", "O(n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
