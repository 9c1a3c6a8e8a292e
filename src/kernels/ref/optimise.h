#pragma once

#include "heed/kernels/optimise.h"

// The same updates as plain loops, every number computed in double and rounded once.
namespace heed::kernels::ref {

void sgd(Index n, const Update& update, const Real* gradient, Real* value);
void momentum(Index n, const MomentumStep& step, const Real* gradient, Real* velocity, Real* value);
void adagrad(Index n, const AdagradStep& step, const Real* gradient, Real* squares, Real* value);
void adadelta(Index n, const AdadeltaStep& step, const Real* gradient, Real* squares, Real* deltas, Real* value);
void rmsprop(Index n, const RmspropStep& step, const Real* gradient, const RmspropState& state, Real* value);
void adam(Index n, const AdamStep& step, const Real* gradient, Real* first, Real* second, Real* value);
void average(Index n, double weight, const Real* value, Real* average);

}  // namespace heed::kernels::ref
