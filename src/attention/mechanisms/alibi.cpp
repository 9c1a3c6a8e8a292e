#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Press, Smith, Lewis 2022, Train short, test long: linear biases.
//   e_ij = q_iᵀ k_j / √d - s_h |i - j|
const RegisterMechanism alibi{{.name = "alibi",
                               .paper = "Press, Smith, Lewis 2022, Train short, test long",
                               .equation = "e = q.k / sqrt(d) - s_h |i - j|",
                               .options = composed_of("alibi"),
                               .cost = {"O(n² d)", "O(n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
