#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Xu et al. 2015, Show, attend and tell: soft attention over image regions.
//   e_ti = f_att(a_i, h_{t-1}),  α = softmax(e),  z = Σ α_i a_i
const RegisterMechanism xu_soft{{.name = "xu-soft",
                                 .paper = "Xu et al. 2015, Show, attend and tell",
                                 .equation = "e = v.tanh(W h + U a), a = softmax(e), z = sum a",
                                 .options = composed_of("additive"),
                                 .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
