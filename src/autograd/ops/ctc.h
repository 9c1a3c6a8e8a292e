#pragma once

#include "heed/autograd/var.h"

namespace heed {

// What a sample costs whose labels do not fit into its frames: their probability is zero.
enum class CtcImpossible { infinite, nothing };

// -log P(labels | frames) summed over the batch, to one number (kernels/ctc.h has the equations and the paper). Logits
// [batch, frames, classes] of which each sample has `lengths` [batch]; labels [batch, most] of which each has
// `counts` [batch]. What stands beyond is never looked at.
struct CtcTargets {
  Ids labels, counts;
  std::int32_t blank = 0;
};
Var ctc_loss(const Var& logits, const Ids& lengths, const CtcTargets& targets,
             CtcImpossible impossible = CtcImpossible::infinite);

}  // namespace heed
