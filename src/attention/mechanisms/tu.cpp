#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Tu et al. 2016, Modeling coverage for neural machine translation: linguistic coverage with fertility.
//   e = vᵀ tanh(W s + U h_j + w C_j),  C_j = Σ α / Φ_j,  Φ_j = N σ(u·h_j)
AttentionOptions with_fertility() {
  AttentionOptions options = composed_of("coverage");
  options.fertility = 2;
  return options;
}
const RegisterMechanism tu{{.name = "tu",
                            .paper = "Tu et al. 2016, Modeling coverage for neural machine translation",
                            .equation = "e = v.tanh(W s + U h + w C), C = sum a / (N sigmoid(u.h))",
                            .options = with_fertility(),
                            .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
