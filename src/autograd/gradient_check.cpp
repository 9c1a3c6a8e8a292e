#include "heed/autograd/gradient_check.h"

#include <cmath>

#include "heed/base/random.h"

namespace heed {

GradientCheck check_gradient(const Differentiable& f, const std::vector<Tensor>& inputs, double step) {
  std::vector<Var> leaves;
  leaves.reserve(inputs.size());
  for (const Tensor& input : inputs) leaves.push_back(Var::leaf(input.copy()));
  return check_gradient([&] { return f(leaves); }, leaves, step);
}

GradientCheck check_gradient(const std::function<Var()>& f, std::vector<Var> leaves, double step) {
  const Var output = f();
  Tensor direction(output.shape());
  RandomSequence random(RandomKey{20150519, 1});
  for (Real& r : direction.values()) r = static_cast<Real>(random.normal());
  Gradients gradients;
  backward(output, direction, gradients);

  const auto project = [&] {
    const NoGradient off;
    const Tensor y = f().value().contiguous();
    double sum = 0;
    for (Index i = 0; i < y.size(); ++i)
      sum += static_cast<double>(y.data()[i]) * static_cast<double>(direction.data()[i]);
    return sum;
  };

  GradientCheck result;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const Tensor analytic = gradients.of(leaves[k]).contiguous();
    for (Index i = 0; i < leaves[k].size(); ++i) {
      Real& x = leaves[k].value().data()[i];  // every copy of the leaf shares this memory
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
