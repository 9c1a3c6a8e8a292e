#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Vaswani et al. 2017, section 4: restricted self-attention: proposed there, not evaluated.
//   α = softmax(Q Kᵀ / √d) over |i - j| <= r/2
const RegisterMechanism restricted{{.name = "restricted",
                                    .paper = "Vaswani et al. 2017, section 4",
                                    .equation = "a = softmax(Q K' / sqrt(d)), |i - j| <= r/2",
                                    .options = composed_of("scaled-dot", "restricted"),
                                    .cost = {"O(r n d)", "O(n)", "O(1)", "O(n / r)"}}};

}  // namespace
}  // namespace heed
