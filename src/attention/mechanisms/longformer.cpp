#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// Beltagy, Peters, Cohan 2020, Longformer: sliding window with global tokens. Here all share the projections;
// attention/longformer.h gives the global tokens their own.
//   α = softmax(Q Kᵀ / √d) over |i - j| <= w/2, and global positions with all
const RegisterMechanism longformer{{.name = "longformer",
                                    .paper = "Beltagy, Peters, Cohan 2020, Longformer",
                                    .equation = "a = softmax(Q K' / sqrt(d)), |i - j| <= w/2 or global",
                                    .options = composed_of("scaled-dot", "sliding"),
                                    .cost = {"O(w n d)", "O(n)", "O(1)", "O(1)"}}};

}  // namespace
}  // namespace heed
