#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Su et al. 2021, RoFormer: rotary positions.
//   e_ij = (R_i q)ᵀ (R_j k) / √d
const RegisterMechanism rotary{{.name = "rotary",
                                .paper = "Su et al. 2021, RoFormer",
                                .equation = "e = (R_i q).(R_j k) / sqrt(d)",
                                .options = composed_of("rotary"),
                                .cost = {"O(n² d)", "O(n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
