#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015, section 3.2: local attention, monotonic alignment.
//   p_t = t,  a = softmax(score) inside [t - D, t + D]
const RegisterMechanism luong_local_m{{.name = "luong-local-m",
                                       .paper = "Luong, Pham, Manning 2015, section 3.2",
                                       .equation = "a = softmax(h.(W hs)), |s - t| <= D",
                                       .options = composed_of("general", "local-m"),
                                       .cost = {"O(n D d)", "O(n)", "O(n)", "O(m / D)"}}};

}  // namespace
}  // namespace heed
