#include "heed/autograd/gradient_check.h"

#include <cmath>

#include "heed/base/random.h"

namespace heed {

GradientCheck check_gradient(const Differentiable& f, std::vector<Tensor> inputs, double step) {
  std::vector<Var> leaves;
  for (Tensor& input : inputs) {
    input = input.copy();
    leaves.push_back(Var::leaf(input));
  }

  const Var output = f(leaves);
  Tensor direction(output.shape());
  RandomSequence random(RandomKey{20150519, 1});
  for (Real& r : direction.values()) r = static_cast<Real>(random.normal());
  Gradients gradients;
  backward(output, direction, gradients);

  const auto project = [&] {
    const NoGradient off;
    const Tensor y = f(leaves).value().contiguous();
    double sum = 0;
    for (Index i = 0; i < y.size(); ++i)
      sum += static_cast<double>(y.data()[i]) * static_cast<double>(direction.data()[i]);
    return sum;
  };

  GradientCheck result;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor analytic = gradients.of(leaves[k]).contiguous();
    for (Index i = 0; i < inputs[k].size(); ++i) {
      Real& x = inputs[k].data()[i];  // shared with the leaf
      const Real at = x;
      x = at + static_cast<Real>(step);
      const double above = project();
      x = at - static_cast<Real>(step);
      const double below = project();
      x = at;
      const double numeric = (above - below) / (2 * step), ours = static_cast<double>(analytic.data()[i]);
      const double error = std::abs(ours - numeric) / std::max(1.0, std::abs(numeric));
      if (!(error <= result.worst)) {
        result.worst = error;
        result.where = fmt::format("input {} element {}: analytic {}, numeric {}", k, i, ours, numeric);
      }
    }
  }
  return result;
}

}  // namespace heed
