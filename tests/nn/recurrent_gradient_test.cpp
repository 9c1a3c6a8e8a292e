#include "heed/nn/recurrent.h"

#include <gtest/gtest.h>

#include "heed/autograd/gradient_check.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/base/random.h"

namespace heed::test {
namespace {

// The largest error of any parameter's gradient against central differences of Σ outputs².
template <class Layer>
double worst_parameter_gradient(Parameters& parameters, const Layer& layer) {
  Tensor x({2, 3, 2});
  RandomSequence random(RandomKey{6, 1});
  for (Real& v : x.values()) v = static_cast<Real>(random.normal());
  const SequenceOptions options{Ids(Shape{2}, {2, 3})};
  const auto loss = [&] {
    const auto result = layer(x, {}, options);
    return sum(square(result.outputs));
  };
  const Gradients gradients = backward(loss());
  double worst = 0;
  for (auto& entry : parameters.entries()) {
    const Tensor analytic = gradients.of(entry.var);
    Tensor& value = entry.var.value();  // shared with the layer
    for (Index i = 0; i < value.size(); ++i) {
      const Real at = value.data()[i];
      value.data()[i] = at + 1e-5;
      const double above = loss().value().item();
      value.data()[i] = at - 1e-5;
      const double below = loss().value().item();
      value.data()[i] = at;
      worst = std::max(worst, std::abs((above - below) / 2e-5 - analytic.data()[i]));
    }
  }
  return worst;
}

TEST(RecurrentLayerGradients, ReachEveryParameterOfABidirectionalStack) {
  Parameters gru_parameters, lstm_parameters;
  const Stacked<Bidirectional<GruLayer>> gru(Scope(gru_parameters), 2, 2, 3);
  const Stacked<Bidirectional<LstmLayer>> lstm(Scope(lstm_parameters), 2, 2, 3);
  EXPECT_LE(worst_parameter_gradient(gru_parameters, gru), 1e-8);
  EXPECT_LE(worst_parameter_gradient(lstm_parameters, lstm), 1e-8);
}

// A decoder: steps whose states feed one another and whose outputs all count.
TEST(RecurrentLayerGradients, FlowThroughRepeatedSteps) {
  Parameters parameters;
  const Stacked<LstmLayer> stack(Scope(parameters), 2, 2, 3);
  const GradientCheck check = check_gradient(
      [&](std::span<const Var> in) {
        Stacked<LstmLayer>::State state{{in[1], in[2]}, {}};
        Var total = in[1];
        for (int t = 0; t < 3; ++t) {
          state = stack.step(in[0], state);
          total = total + stack.output(state) * state[0].cell;
        }
        return total;
      },
      {Tensor({2, 2}, {0.3, -0.7, 1.1, 0.2}), Tensor({2, 3}, Real{0.4}), Tensor({2, 3}, Real{-0.6})});
  EXPECT_LE(check.worst, 1e-8) << check.where;
}

}  // namespace
}  // namespace heed::test
