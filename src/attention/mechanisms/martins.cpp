#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Martins & Astudillo 2016, From softmax to sparsemax: sparse attention.
//   α = max(e - τ, 0), Σ α = 1
const RegisterMechanism martins{{.name = "martins",
                                 .paper = "Martins & Astudillo 2016, From softmax to sparsemax",
                                 .equation = "a = max(e - t, 0)",
                                 .options = composed_of("scaled-dot", "global", "sparsemax"),
                                 .cost = {"O(n m (d + log m))", "O(n m)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
