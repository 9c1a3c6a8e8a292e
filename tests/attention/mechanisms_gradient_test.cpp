#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/autograd/gradient_check.h"
#include "heed/autograd/ops/shape.h"

namespace heed::test {
namespace {

Var flat(const Var& x) { return reshape(x, Shape{x.size()}); }

// With respect to queries, keys, values and all parameters.
GradientCheck check(Instance& instance, const Inputs& inputs, const std::function<Var(const Answers&)>& output) {
  randomise(instance.parameters, 3);
  std::vector<Var> leaves = {inputs.queries, inputs.keys, inputs.values};
  for (const auto& entry : instance.parameters.entries()) leaves.push_back(entry.var);
  return check_gradient([&] { return output(ask(instance.attention, inputs)); }, leaves);
}

Var read_and_weights(const Answers& answers) { return concat({flat(answers.read), flat(answers.weights)}, 0); }

// Parts that carry state are asked step by step, so that this covers the gradient through the past. Outside training
// hard attention takes the largest: its weights are constants, and the check holds that nothing flows to the scores.
TEST(MechanismGradients, EveryCompositionPasses) {
  int checked = 0;
  for (const Composition& composition : every_composition()) {
    SCOPED_TRACE(composition.name);
    Instance instance(composition.options);
    Inputs inputs = random_inputs({.n = 2}, 1);
    inputs.position = 1;
    const GradientCheck result = check(instance, inputs, read_and_weights);
    EXPECT_LE(result.worst, 1e-8) << result.where;
    ++checked;
  }
  EXPECT_GT(checked, 300);
}

TEST(MechanismGradients, EveryMechanismPassesWithTwoHeads) {
  for (const Composition& composition : every_composition()) {
    if (composition.name.find(" × ") != std::string::npos) break;
    SCOPED_TRACE(composition.name);
    AttentionOptions options = composition.options;
    options.heads = 2;
    Instance instance(options);
    const GradientCheck result = check(instance, random_inputs({.heads = 2, .n = 3}, 2), read_and_weights);
    EXPECT_LE(result.worst, 1e-8) << result.where;
  }
}

// In training the choice itself has no gradient; its log-probability and the entropy have one, for every score and
// window hard attention can be composed with.
TEST(MechanismGradients, HardChoicesPassThroughLogProbabilityAndEntropy) {
  int checked = 0;
  for (const Composition& composition : every_composition()) {
    if (composition.options.normaliser != "hard") continue;
    SCOPED_TRACE(composition.name);
    AttentionOptions options = composition.options;
    options.soft_mixing = 0;
    Instance instance(options);
    Inputs inputs = random_inputs({.n = 2}, 1);
    inputs.training = true;
    const GradientCheck result = check(instance, inputs, [](const Answers& answers) {
      return concat({flat(answers.log_probability), flat(answers.entropy), flat(answers.read)}, 0);
    });
    EXPECT_LE(result.worst, 1e-8) << result.where;
    ++checked;
  }
  EXPECT_GT(checked, 40);
}

TEST(MechanismGradients, MixedHardAttentionIsSoft) {
  AttentionOptions options = small({});
  options.normaliser = "hard";
  options.soft_mixing = 1;
  Instance instance(options);
  Inputs inputs = random_inputs({}, 1);
  inputs.training = true;
  const GradientCheck result = check(instance, inputs, read_and_weights);
  EXPECT_LE(result.worst, 1e-8) << result.where;
}

}  // namespace
}  // namespace heed::test
