#include "heed/nn/recurrent.h"

#include <gtest/gtest.h>

#include "heed/autograd/ops/elementwise.h"
#include "heed/base/random.h"

namespace heed::test {
namespace {

Tensor random_tensor(const Shape& shape, std::uint64_t stream) {
  RandomSequence random(RandomKey{4, stream});
  Tensor tensor(shape);
  for (Real& x : tensor.values()) x = static_cast<Real>(random.normal());
  return tensor;
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = a.contiguous(), y = b.contiguous();
  for (Index i = 0; i < x.size(); ++i) ASSERT_NEAR(x.data()[i], y.data()[i], tolerance) << "element " << i;
}

TEST(RecurrentLayers, NamesAndInitialValues) {
  Parameters parameters;
  const LstmLayer lstm(Scope(parameters) / "encoder", 3, 4);
  const GruLayer after(Scope(parameters) / "after", 3, 4);
  const GruLayer before(Scope(parameters) / "before", 3, 4, {.form = {.reset = GruReset::before_product}});
  std::vector<std::string> names;
  for (const auto& entry : parameters.entries()) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"encoder.input", "encoder.recurrent", "encoder.bias", "after.input",
                                             "after.recurrent", "after.bias", "after.candidate_bias", "before.input",
                                             "before.recurrent", "before.bias"}));
  // Only the forget gates, the second of i, f, g, o, begin with a bias.
  for (Index i = 0; i < 16; ++i) EXPECT_EQ(lstm.weights().bias.value().at({i}), i / 4 == 1 ? 1 : 0);
  // Each gate's block of the recurrent weights is orthogonal.
  const Tensor u = after.weights().recurrent.value();
  for (Index gate = 0; gate < 3; ++gate)
    for (Index a = 0; a < 4; ++a)
      for (Index b = 0; b < 4; ++b) {
        Real dot = 0;
        for (Index i = 0; i < 4; ++i) dot += u.at({a, gate * 4 + i}) * u.at({b, gate * 4 + i});
        EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-5);
      }
}

TEST(RecurrentLayers, BothDirectionsAreTwoLayers) {
  Parameters parameters;
  const Bidirectional<GruLayer> layer(Scope(parameters), 3, 4);
  const Tensor x = random_tensor({2, 5, 3}, 1);
  const SequenceOptions options{Ids(Shape{2}, {5, 3})};
  const auto result = layer(x, {}, options);
  EXPECT_EQ(layer.output_size(), 8);
  const GruResult ahead = layer.forward()(x, {}, options), back = layer.backward()(x, {}, {options.lengths, true});
  expect_near(result.outputs.value().slice(2, 0, 4), ahead.outputs.value(), 0);
  expect_near(result.outputs.value().slice(2, 4, 8), back.outputs.value(), 0);
  expect_near(result.last.forward.value(), ahead.last.value(), 0);
  expect_near(result.last.backward.value(), back.last.value(), 0);
  // The backward layer ends at the first word.
  expect_near(result.last.backward.value(), result.outputs.value().slice(2, 4, 8).slice(1, 0, 1).reshape({2, 4}), 0);
}

TEST(RecurrentLayers, RepeatedStepsOfAStackAreTheSequence) {
  Parameters parameters;
  const Stacked<LstmLayer> stack(Scope(parameters) / "decoder", 3, 2, 4);
  EXPECT_TRUE(parameters.contains("decoder.layer2.recurrent"));
  const auto halved = [](const Var& x) { return scale(x, 0.5); };
  const Tensor x = random_tensor({2, 5, 2}, 1);
  const auto whole = stack(x, {}, {}, halved);
  Stacked<LstmLayer>::State state;
  for (Index t = 0; t < 5; ++t) {
    state = stack.step(x.slice(1, t, t + 1).reshape({2, 2}), state, halved);
    expect_near(stack.output(state).value(), whole.outputs.value().slice(1, t, t + 1).reshape({2, 4}), 1e-6);
  }
  ASSERT_EQ(whole.last.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) expect_near(state[i].cell.value(), whole.last[i].cell.value(), 1e-6);
}

TEST(RecurrentLayers, AStackNeedsLayersAndTheirStates) {
  Parameters parameters;
  EXPECT_THROW(Stacked<GruLayer>(Scope(parameters), 0, 2, 3), Error);
  const Stacked<GruLayer> stack(Scope(parameters), 2, 2, 3);
  const Tensor x({1, 1, 2}, Real{0});
  try {
    stack(x, {Var(Tensor({1, 3}, Real{0}))});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[stacked] 1 states for 2 layers");
  }
}

}  // namespace
}  // namespace heed::test
