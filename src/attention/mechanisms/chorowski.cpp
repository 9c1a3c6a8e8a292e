#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Chorowski et al. 2015, Attention-based models for speech recognition: hybrid attention: content and location.
//   e = wᵀ tanh(W s + V h + U f + b),  f = F * α_{i-1},  α = softmax(e)
const RegisterMechanism chorowski{{.name = "chorowski",
                                   .paper = "Chorowski et al. 2015, Attention-based models for speech recognition",
                                   .equation = "e = w.tanh(W s + V h + U (F * a') + b), a = softmax(e)",
                                   .options = composed_of("location-aware"),
                                   .cost = {"O(n m (d + f))", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
