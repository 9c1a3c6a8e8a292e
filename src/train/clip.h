#pragma once

#include "heed/nn/parameters.h"

// Gradient clipping (Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent neural networks", ICML 2013):
//   g ← g · min(1, max_norm / ‖g‖),  ‖g‖ over all parameters together.
// Nothing is scaled here: the factor goes to Optimiser::step, which has the gradients in its hands anyway.

namespace heed {

// ‖g‖₂ over the gradients of all parameters, in double and in an order that does not depend on the thread count.
// Repeated rows of a sparse gradient are summed first, so that it is the norm of the dense gradient.
double global_norm(const Gradients& gradients, const Parameters& parameters);

// max_norm / norm where the norm is larger, else 1. A norm that is not finite is an Error: the caller may skip the
// step.
Real clip_factor(double norm, double max_norm);

// target / norm: the gradient always gets that norm (Gehring et al. 2017). A zero gradient stays zero.
Real renormalise_factor(double norm, double target);

}  // namespace heed
