#pragma once

#include "heed/kernels/additive.h"

namespace heed::kernels::ref {

void additive_scores(const AdditiveSize& size, const AdditiveInputs& in, Real* e);
void additive_scores_backward(const AdditiveSize& size, const AdditiveInputs& in, const Real* de,
                              const AdditiveGradients& out);

}  // namespace heed::kernels::ref
