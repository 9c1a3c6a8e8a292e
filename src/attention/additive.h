#pragma once

#include "heed/autograd/var.h"

namespace heed {

// e_ij = vᵀ tanh(q_i + k_j): queries [batch, heads, n, width], keys [batch, heads, m, width], v [width] → [batch,
// heads, n, m]. Lengths [batch], each in 0..m: keys at or beyond them score 0 and get no gradient; empty: all m.
// Never holds a tensor of n × m × width; a score's bits do not depend on what else is in the batch.
Var additive_scores(const Var& queries, const Var& keys, const Var& v, const Ids& lengths = {});

// Its definition without lengths, with ordinary ops; makes a tensor of n × m × width.
Var additive_scores_composed(const Var& queries, const Var& keys, const Var& v);

}  // namespace heed
