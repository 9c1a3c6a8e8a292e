#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Xu et al. 2015, Show, attend and tell: hard attention over image regions.
//   s_t ~ Cat(softmax(e)),  z = a_{s_t}; REINFORCE gradient (losses.h)
const RegisterMechanism xu_hard{{.name = "xu-hard",
                                 .paper = "Xu et al. 2015, Show, attend and tell",
                                 .equation = "s ~ softmax(v.tanh(W h + U a)), z = a_s",
                                 .options = composed_of("additive", "global", "hard"),
                                 .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
