#pragma once

#include "heed/kernels/attention.h"

namespace heed::kernels::ref {

// The definitions, with the whole matrix: weights [B, H, queries, keys].
void attention_weights(const AttentionInput& in, Real* weights, Real* log_sum);
void attention_read(const AttentionInput& in, const Real* weights, const AttentionOutput& out);
// gradients.read and gradients.log_sum are not used.
void attention_backward(const AttentionInput& in, const Real* weights, const AttentionGradients& gradients);

}  // namespace heed::kernels::ref
