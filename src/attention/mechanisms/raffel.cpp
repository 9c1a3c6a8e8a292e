#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Raffel et al. 2017, Online and linear-time attention by enforcing monotonic alignments: monotonic attention in
// expectation; n + m steps when run hard.
//   p = σ(e),  q_j = (1 - p_{j-1}) q_{j-1} + α'_j,  α_j = p_j q_j
const RegisterMechanism raffel{
    {.name = "raffel",
     .paper = "Raffel et al. 2017, Online and linear-time attention by enforcing monotonic alignments",
     .equation = "q_j = (1-p_{j-1}) q_{j-1} + a'_j, a_j = p_j q_j",
     .options = composed_of("additive", "global", "monotonic"),
     .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
