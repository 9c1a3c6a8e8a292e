#pragma once

#include "heed/autograd/var.h"

namespace heed {

// Over the last axis; `mask` (true = takes part) broadcasts to x's shape. Both give exact zeros, zeros to a row in
// which nothing takes part, and NaN to one in which a NaN does.

// Martins & Astudillo 2016: the Euclidean projection onto the simplex, y = max(x - τ, 0) with Σ y = 1.
Var sparsemax(const Var& x, const Mask& mask = {});
// Peters, Niculae, Martins 2019, α = 1.5: y = max(x/2 - τ, 0)² with Σ y = 1.
Var entmax15(const Var& x, const Mask& mask = {});

// Raffel et al. 2017: the expected weights of a scan that goes on from where it last stopped and stops at j with
// probability p_j.   q_j = (1 - p_{j-1}) q_{j-1} + previous_j,  α_j = p_j q_j. Shapes [..., m].
Var monotonic_weights(const Var& p, const Var& previous);

}  // namespace heed
