#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015: global attention, concat score.
//   e_s = vᵀ tanh(W [h; h̄_s]),  a = softmax(e)
const RegisterMechanism luong_concat{{.name = "luong-concat",
                                      .paper = "Luong, Pham, Manning 2015",
                                      .equation = "e = v.tanh(W [h; hs]), a = softmax(e)",
                                      .options = composed_of("concat"),
                                      .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
