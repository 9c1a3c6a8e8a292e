#include "heed/autograd/ops/softmax.h"

#include "heed/autograd/ops/elementwise.h"
#include "support/op_cases.h"

namespace heed::test {
namespace {

Mask mask_of(const Attributes& attributes) {
  return attributes.contains("mask") ? mask_from(attributes.at("mask")) : Mask();
}

// Leaves out what does not take part: there log_softmax is a constant of huge size.
Var visible(const Var& y, const Mask& mask) {
  if (!mask) return y;
  const Mask wide = mask.expand(y.shape()).contiguous();
  Tensor weights(y.shape());
  for (Index i = 0; i < wide.size(); ++i) weights.data()[i] = wide.data()[i] ? Real{1} : Real{0};
  return y * Var(weights);
}

const std::vector<OpExample> softmax_examples = {
    {{Shape{7}}},
    {{Shape{3, 19}}},
    {{Shape{2, 1}}},
    {{Shape{0, 4}}},
    {{Shape{3, 4}}, {{"mask", {{1, 0, 1, 1}, {0, 0, 0, 0}, {0, 0, 1, 0}}}}},
    {{Shape{2, 3, 4}}, {{"mask", {1, 1, 0, 1}}}},
    {{Shape{2, 2, 3, 2}}, {{"mask", {{{{1, 1}}}, {{{0, 1}}}}}}},
    {{Shape{2, 3, 3}}, {{"mask", {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}}}},
};

const RegisterOps softmax_ops{
    {"softmax", softmax_examples,
     [](std::span<const Var> x, const Attributes& a) { return softmax(x[0], mask_of(a)); }},
    {"log_softmax", softmax_examples,
     [](std::span<const Var> x, const Attributes& a) { return visible(log_softmax(x[0], mask_of(a)), mask_of(a)); }},
};

}  // namespace
}  // namespace heed::test
