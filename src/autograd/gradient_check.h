#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/autograd/var.h"

namespace heed {

// Compares backward with central differences of Σ f(x) ∘ R for a fixed random R, at every element of every input.
// Meaningful in the double build, where an exact gradient shows errors near 1e-9 or less.
struct GradientCheck {
  double worst = 0;   // largest |analytic - numeric| / max(1, |numeric|)
  std::string where;  // of the worst: input, element and both numbers
};
using Differentiable = std::function<Var(std::span<const Var>)>;
GradientCheck check_gradient(const Differentiable& f, const std::vector<Tensor>& inputs, double step = 1e-5);
// The same for a function of leaves that exist already, such as the parameters of a layer.
GradientCheck check_gradient(const std::function<Var()>& f, std::vector<Var> leaves, double step = 1e-5);

}  // namespace heed
