#pragma once

#include "heed/autograd/ops/matrix.h"

namespace heed {

struct CrossEntropy {
  double label_smoothing = 0;
  // Where the smoothed mass goes: over all classes (as PyTorch), or over all but the target (as tensor2tensor).
  bool spare_target = false;
  std::int32_t ignore = -1;  // targets of this id take no part (padding)
  bool average = true;       // over the targets that take part; otherwise the sum
  Tensor weights = {};       // of the shape of the targets: what each one's loss counts; empty: 1
};

// Cross-entropy of logits [..., classes] against target ids [...], to one number. 0 if no target takes part. No second
// buffer of the logits' size is made when the caller does not keep the logits.
Var cross_entropy(const Var& logits, const Ids& targets, const CrossEntropy& options = {});

// cross_entropy(x W + b, targets) of x [..., in], W [in, classes] or, with flip.b, [classes, in], and b [classes] or
// empty. The logits are made some rows at a time, in cache, and never stand in memory together; targets that take no
// part cost nothing.
Var linear_cross_entropy(const Var& x, const Var& weight, const Var& bias, const Ids& targets,
                         const CrossEntropy& options = {}, Transposed flip = {});

}  // namespace heed
