#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015: global attention from the decoder's state alone.
//   a = softmax(W h)
const RegisterMechanism luong_location{{.name = "luong-location",
                                        .paper = "Luong, Pham, Manning 2015",
                                        .equation = "a = softmax(W h)",
                                        .options = composed_of("location"),
                                        .cost = {"O(n m d)", "O(n m)", "O(n)", "O(1)"}}};

}  // namespace
}  // namespace heed
