#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Vaswani et al. 2017, Attention is all you need: scaled dot-product attention; heads are joined by MultiHead.
//   α = softmax(Q Kᵀ / √d),  read = α V, in H heads
const RegisterMechanism transformer{{.name = "transformer",
                                     .paper = "Vaswani et al. 2017, Attention is all you need",
                                     .equation = "a = softmax(Q K' / sqrt(d)), read = a V",
                                     .options = composed_of("scaled-dot"),
                                     .cost = {"O(n² d)", "O(n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
