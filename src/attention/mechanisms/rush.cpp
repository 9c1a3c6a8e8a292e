#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Rush, Chopra, Weston 2015, A neural attention model for abstractive sentence summarization: attention-based
// summarisation; the smoothing is of the memory's values.
//   p ∝ exp(x̃ P ỹ'),  enc = pᵀ x̄: keys x̃, values x̄ smoothed over neighbours
const RegisterMechanism rush{
    {.name = "rush",
     .paper = "Rush, Chopra, Weston 2015, A neural attention model for abstractive sentence summarization",
     .equation = "a = softmax(x.(P y)), enc = sum a mean(x)",
     .options = composed_of("general"),
     .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
