#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Shaw, Uszkoreit, Vaswani 2018, Self-attention with relative position representations: relative positions.
//   e_ij = q_iᵀ (k_j + a^K_{j-i}) / √d,  read_i = Σ α_ij (v_j + a^V_{j-i})
const RegisterMechanism shaw{
    {.name = "shaw",
     .paper = "Shaw, Uszkoreit, Vaswani 2018, Self-attention with relative position representations",
     .equation = "e = q.(k + aK[j-i]) / sqrt(d), read = sum a (v + aV[j-i])",
     .options = composed_of("relative"),
     .cost = {"O(n² d)", "O(n²)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
