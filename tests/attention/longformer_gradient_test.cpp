#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/attention/longformer.h"
#include "heed/autograd/gradient_check.h"

namespace heed::test {
namespace {

TEST(LongformerGradients, OfInputAndEveryParameter) {
  MultiHeadOptions options{.width = 4, .attention = {}};
  options.attention.heads = 2;
  options.attention.neighbours = 2;
  options.attention.global_tokens = 2;
  Parameters parameters;
  const Longformer layer(Scope(parameters), options);
  randomise(parameters, 3);
  const Var x = Var::leaf(random_tensor(Shape{2, 5, 4}, 1));
  std::vector<Var> leaves{x};
  for (const Parameters::Entry& entry : parameters.entries()) leaves.push_back(entry.var);
  const GradientCheck check = check_gradient([&] { return layer(x, ids({5, 3})); }, leaves);
  EXPECT_LE(check.worst, 1e-8) << check.where;
}

}  // namespace
}  // namespace heed::test
