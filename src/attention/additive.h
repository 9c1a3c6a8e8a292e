#pragma once

#include "heed/autograd/var.h"

namespace heed {

// e_ij = vᵀ tanh(q_i + k_j): queries [batch, heads, n, width], keys [batch, heads, m, width], v [width] → [batch,
// heads, n, m]. The definition, with ordinary ops; makes a tensor of n × m × width.
Var additive_scores_composed(const Var& queries, const Var& keys, const Var& v);

}  // namespace heed
