#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015, Effective approaches to attention-based neural machine translation: global attention,
// dot score.
//   e_s = hᵀ h̄_s,  a = softmax(e)
const RegisterMechanism luong_dot{
    {.name = "luong-dot",
     .paper = "Luong, Pham, Manning 2015, Effective approaches to attention-based neural machine translation",
     .equation = "e = h.hs, a = softmax(e)",
     .options = composed_of("dot"),
     .cost = {"O(n m d)", "O(n)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
