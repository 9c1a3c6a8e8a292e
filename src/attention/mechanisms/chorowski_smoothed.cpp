#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Chorowski et al. 2015: smoothing.
//   e as in chorowski,  α = σ(e) / Σ σ(e)
const RegisterMechanism chorowski_smoothed{
    {.name = "chorowski-smoothed",
     .paper = "Chorowski et al. 2015",
     .equation = "e = w.tanh(W s + V h + U (F * a') + b), a = sigmoid(e) / sum sigmoid(e)",
     .options = composed_of("location-aware", "global", "smoothed"),
     .cost = {"O(n m (d + f))", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
