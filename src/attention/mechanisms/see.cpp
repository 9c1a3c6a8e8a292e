#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// See, Liu, Manning 2017, Get to the point: coverage for summarisation.
//   e = vᵀ tanh(W s + U h_j + w_c c_j + b),  c = Σ past α; copying and the coverage loss are in losses.h
const RegisterMechanism see{{.name = "see",
                             .paper = "See, Liu, Manning 2017, Get to the point",
                             .equation = "e = v.tanh(W s + U h + w c + b), c = sum a'",
                             .options = composed_of("coverage"),
                             .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
