#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Chorowski et al. 2015: windowing.
//   e as in chorowski, inside a window around the median of α_{i-1}
const RegisterMechanism chorowski_windowed{{.name = "chorowski-windowed",
                                            .paper = "Chorowski et al. 2015",
                                            .equation = "e = w.tanh(W s + V h + U (F * a') + b), |j - median(a')| <= w",
                                            .options = composed_of("location-aware", "median"),
                                            .cost = {"O(n w (d + f))", "O(n w)", "O(n)", "O(m / w)"}}};

}  // namespace
}  // namespace heed
