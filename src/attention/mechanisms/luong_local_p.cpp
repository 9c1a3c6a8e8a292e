#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015, section 3.2: local attention, predicted alignment.
//   p = (S - 1) σ(vᵀ tanh(W h)),  a(s) = softmax(score)(s) · exp(-(s - p)² / 2σ²),  σ = D/2, not renormalised
const RegisterMechanism luong_local_p{
    {.name = "luong-local-p",
     .paper = "Luong, Pham, Manning 2015, section 3.2",
     .equation = "a = softmax(h.(W hs)) exp(-(s - p)^2 / 2(D/2)^2), p = (S-1) sigmoid(v.tanh(W h))",
     .options = composed_of("general", "local-p"),
     .cost = {"O(n D d)", "O(n D)", "O(n)", "O(m / D)"}}};

}  // namespace
}  // namespace heed
