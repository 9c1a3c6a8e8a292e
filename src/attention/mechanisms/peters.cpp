#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Peters, Niculae, Martins 2019, Sparse sequence-to-sequence models: 1.5-entmax.
//   α = max(e/2 - τ, 0)², Σ α = 1
const RegisterMechanism peters{{.name = "peters",
                                .paper = "Peters, Niculae, Martins 2019, Sparse sequence-to-sequence models",
                                .equation = "a = max(e/2 - t, 0)^2",
                                .options = composed_of("scaled-dot", "global", "entmax"),
                                .cost = {"O(n m (d + log m))", "O(n m)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
