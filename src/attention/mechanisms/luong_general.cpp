#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015: global attention, general score.
//   e_s = hᵀ W h̄_s,  a = softmax(e)
const RegisterMechanism luong_general{{.name = "luong-general",
                                       .paper = "Luong, Pham, Manning 2015",
                                       .equation = "e = h.(W hs), a = softmax(e)",
                                       .options = composed_of("general"),
                                       .cost = {"O(n m d)", "O(n)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
