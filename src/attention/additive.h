#pragma once

#include "heed/autograd/var.h"

namespace heed {

// A few numbers f_j a key that change from call to call (Chorowski et al. 2015), and the map U to the keys' width.
struct KeyFeatures {
  Var values;  // [batch, heads, m, features]
  Var map;     // [features, width]
};

// e_ij = vᵀ tanh(q_i + k_j), or vᵀ tanh(q_i + k_j + Uᵀ f_j) with features: queries [batch, heads, n, width], keys
// [batch, heads, m, width], v [width] → [batch, heads, n, m]. Lengths [batch], each in 0..m: keys at or beyond them
// score 0 and get no gradient; empty: all m. Never holds a tensor of n × m × width, nor the sum of keys and features; a
// score's bits do not depend on what else is in the batch.
Var additive_scores(const Var& queries, const Var& keys, const Var& v, const Ids& lengths = {},
                    const KeyFeatures& features = {});

// Its definition without lengths, with ordinary ops; makes a tensor of n × m × width.
Var additive_scores_composed(const Var& queries, const Var& keys, const Var& v, const KeyFeatures& features = {});

}  // namespace heed
