#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "attention/composition_cases.h"
#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

// Where the parts of an attention declare what they are to the fused kernel, it is what their composition is.

namespace heed::test {
namespace {

Attended attended(const Attention& attention, const Inputs& inputs, bool composed) {
  Query query;
  query.vectors = inputs.queries;
  query.position = inputs.position;
  query.composed = composed;
  return attention(query, attention.memory(inputs.keys, inputs.values, inputs.lengths));
}

bool fuses(const Attention& attention) {
  return !attention.carries().any() && !attended(attention, random_inputs({.n = 2}, 1), false).weights.computed();
}

std::vector<Composition> every_fused_composition() {
  std::vector<Composition> list;
  for (const Composition& composition : every_composition())
    if (fuses(Instance(composition.options).attention)) list.push_back(composition);
  return list;
}
const std::vector<Composition>& fused_compositions() {
  static const std::vector<Composition> list = every_fused_composition();
  return list;
}

// Largest |a - b| / (1 + |b|).
double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const Tensor x = a.contiguous(), y = b.contiguous();
  double worst = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const double expected = static_cast<double>(y.data()[i]);
    const double d = std::abs(static_cast<double>(x.data()[i]) - expected) / (1 + std::abs(expected));
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

void expect_the_definition(const AttentionOptions& options, const Inputs& inputs) {
  Instance instance(options);
  randomise(instance.parameters, 3);
  const Attended fused = attended(instance.attention, inputs, false);
  const Attended composed = attended(instance.attention, inputs, true);
  ASSERT_FALSE(fused.weights.computed());
  ASSERT_TRUE(composed.weights.computed());
  EXPECT_LE(difference(fused.read.value(), composed.read.value()), 2e-5);
  EXPECT_EQ(fused.weights.shape(), composed.weights.shape());
  EXPECT_LE(difference(fused.weights.value(), composed.weights.value()), 1e-5);

  Gradients got, expected;
  const Tensor seed = random_tensor(fused.read.shape(), 7);
  backward(fused.read, seed, got);
  backward(composed.read, seed, expected);
  for (const Var& leaf : {inputs.queries, inputs.keys, inputs.values})
    EXPECT_LE(difference(got.of(leaf), expected.of(leaf)), 1e-4);
  for (const auto& entry : instance.parameters.entries())
    EXPECT_LE(difference(got.of(entry.var), expected.of(entry.var)), 1e-4) << entry.name;
}

TEST(FusedChoice, TheDotFamilyIsFusedInEveryWindowByPosition) {
  std::set<std::string> names;
  for (const Composition& composition : fused_compositions()) names.insert(composition.name);
  for (const char* score : {"dot", "scaled-dot", "general", "alibi", "rotary"})
    for (const char* window : {"global", "causal", "local-m", "restricted", "sliding"})
      EXPECT_TRUE(names.count(std::string(score) + " × " + window + " × softmax")) << score << " " << window;
  for (const char* mechanism : {"transformer", "transformer-causal", "luong-dot", "luong-general", "luong-local-m",
                                "restricted", "longformer", "alibi", "rotary", "convs2s"})
    EXPECT_TRUE(names.count(mechanism)) << mechanism;
  for (const std::string& name : names) {
    EXPECT_EQ(name.find("hard"), std::string::npos) << name;
    EXPECT_EQ(name.find("local-p"), std::string::npos) << name;
    EXPECT_EQ(name.find("shaw"), std::string::npos) << name;
  }
}

RC_GTEST_PROP(FusedChoice, IsTheCompositionOnAnyShape, ()) {
  const auto& list = fused_compositions();
  const Composition& composition = list[*rc::gen::inRange<std::size_t>(0, list.size())];
  Sizes sizes;
  sizes.heads = *rc::gen::inRange<Index>(1, 4);
  sizes.n = *rc::gen::inRange<Index>(1, 40);
  sizes.m = *rc::gen::inRange<Index>(1, 60);
  sizes.lengths = {static_cast<std::int32_t>(sizes.m), 0, 1,
                   *rc::gen::inRange<std::int32_t>(0, static_cast<std::int32_t>(sizes.m) + 1)};
  AttentionOptions options = composition.options;
  options.heads = sizes.heads;
  options.neighbours = *rc::gen::inRange<Index>(1, 20);
  options.half_width = *rc::gen::inRange<Index>(0, 10);
  options.global_tokens = *rc::gen::inRange<Index>(0, 7);
  Inputs inputs = random_inputs(sizes, *rc::gen::inRange<std::uint64_t>(1, 1000));
  inputs.position = *rc::gen::inRange<Index>(0, 50);
  RC_LOG() << composition.name;
  expect_the_definition(options, inputs);
  RC_ASSERT(!::testing::Test::HasFailure());
}

// More keys than a block of the kernel holds, in windows that skip whole blocks.
TEST(FusedChoice, IsTheCompositionOverSeveralBlocks) {
  for (const char* window : {"global", "causal", "restricted", "sliding"}) {
    for (const char* score : {"scaled-dot", "alibi"}) {
      SCOPED_TRACE(std::string(score) + " " + window);
      AttentionOptions options = small(composed_of(score, window));
      options.neighbours = 30;
      options.global_tokens = 3;
      Inputs inputs = random_inputs({.n = 70, .m = 1100, .lengths = {1100, 1030}}, 1);
      for (const Index position : {0, 500, 1000}) {
        inputs.position = position;
        expect_the_definition(options, inputs);
      }
    }
  }
}

TEST(FusedChoice, RowsThatSeeNothingAreZeroWithoutGradients) {
  for (const Composition& composition : fused_compositions()) {
    SCOPED_TRACE(composition.name);
    const Instance instance(composition.options);
    const Inputs inputs = random_inputs({.n = 3, .m = 5, .lengths = {0, 5}}, 1);
    const Attended answer = attended(instance.attention, inputs, false);
    Gradients gradients;
    backward(answer.read, random_tensor(answer.read.shape(), 2), gradients);
    for (const Tensor& x : {answer.read.value(), answer.weights.value(), gradients.of(inputs.queries),
                            gradients.of(inputs.keys), gradients.of(inputs.values)}) {
      const Tensor numbers = x.slice(0, 0, 1).contiguous();
      for (const Real number : numbers.values()) EXPECT_EQ(number, 0);
    }
  }
}

// Alone and without padding, or in any batch: the same bits, forward and backward.
TEST(FusedChoice, IsBitIdenticalInAnyBatch) {
  for (const Composition& composition : fused_compositions()) {
    if (composition.options.score == "general") continue;  // its map is an ordinary matrix product
    SCOPED_TRACE(composition.name);
    const Instance instance(composition.options);
    const Inputs batch = random_inputs({.heads = 2, .n = 30, .m = 50, .lengths = {50, 17, 33}}, 1);
    const Attended together = attended(instance.attention, batch, false);
    const Tensor seed = random_tensor(together.read.shape(), 2);
    Gradients gradients;
    backward(together.read, seed, gradients);
    for (Index b = 0; b < 3; ++b) {
      SCOPED_TRACE(b);
      const std::int32_t length = batch.lengths.data()[b];
      const auto part = [&](const Tensor& x, Index positions) {
        return x.slice(0, b, b + 1).slice(2, 0, positions).copy();
      };
      const Inputs one = {Var::leaf(part(batch.queries.value(), 30)), Var::leaf(part(batch.keys.value(), length)),
                          Var::leaf(part(batch.values.value(), length)), ids({length})};
      const Attended alone = attended(instance.attention, one, false);
      EXPECT_TRUE(same_bits(alone.read.value(), part(together.read.value(), 30)));
      EXPECT_TRUE(same_bits(alone.weights.value(), part(together.weights.value(), 30).slice(3, 0, length)));
      Gradients own;
      backward(alone.read, part(seed, 30), own);
      EXPECT_TRUE(same_bits(own.of(one.queries), part(gradients.of(batch.queries), 30)));
      EXPECT_TRUE(same_bits(own.of(one.keys), part(gradients.of(batch.keys), length)));
      EXPECT_TRUE(same_bits(own.of(one.values), part(gradients.of(batch.values), length)));
    }
  }
}

// A query without a gradient is a step of decoding; it has weights too.
TEST(FusedChoice, AStepIsTheComposition) {
  for (const Composition& composition : fused_compositions()) {
    SCOPED_TRACE(composition.name);
    Instance instance(composition.options);
    randomise(instance.parameters, 3);
    const NoGradient off;
    Inputs inputs = random_inputs({.heads = 2, .n = 1, .m = 700, .lengths = {700, 650, 0, 1}}, 1);
    for (const Index position : {0, 1, 660, 5000}) {
      inputs.position = position;
      const Attended step = attended(instance.attention, inputs, false);
      const Attended composed = attended(instance.attention, inputs, true);
      EXPECT_LE(difference(step.read.value(), composed.read.value()), 1e-5) << position;
      EXPECT_LE(difference(step.weights.value(), composed.weights.value()), 1e-5) << position;
    }
  }
}

TEST(FusedChoice, WeightsHaveTheGradientOfTheComposition) {
  for (const char* mechanism : {"transformer-causal", "luong-general", "alibi"}) {
    SCOPED_TRACE(mechanism);
    const Instance instance(small(mechanism_named(mechanism).options));
    const Inputs inputs = random_inputs({.n = 4, .m = 6, .lengths = {6, 3}}, 1);
    const auto loss = [&](bool composed) {
      const Attended answer = attended(instance.attention, inputs, composed);
      return backward(sum(answer.read) + sum(square(answer.weights.var())));
    };
    const Gradients fused = loss(false), composed = loss(true);
    for (const Var& leaf : {inputs.queries, inputs.keys, inputs.values})
      EXPECT_LE(distance(fused.of(leaf), composed.of(leaf)), 1e-5);
    EXPECT_GT(difference(fused.of(inputs.queries), Tensor(inputs.queries.shape(), Real{0})), 1e-3);
  }
}

// Rows, heads and summaries are there on both paths, and the same.
TEST(FusedChoice, WhatIsSaidOfTheWeightsIsTheSameOnBothPaths) {
  AttentionOptions options = small(composed_of("scaled-dot", "causal"));
  options.heads = 3;
  const Instance instance(options);
  const Inputs inputs = random_inputs({.heads = 3, .n = 9, .m = 12, .lengths = {12, 2, 0}}, 1);
  const AttentionWeights fused = attended(instance.attention, inputs, false).weights,
                         composed = attended(instance.attention, inputs, true).weights;
  EXPECT_EQ(fused.rows({8, 2}, {1}).shape(), (Shape{3, 1, 2, 12}));
  EXPECT_LE(distance(fused.rows({8, 2}, {1}), composed.rows({8, 2}, {1})), 1e-6);
  EXPECT_LE(distance(fused.rows({}, {2, 0}), composed.rows({}, {2, 0})), 1e-6);
  EXPECT_TRUE(same_bits(composed.rows({2}, {1}), composed.value().slice(1, 1, 2).slice(2, 2, 3)));
  const auto got = fused.summaries(3), expected = composed.summaries(3);
  EXPECT_LE(distance(got.entropy, expected.entropy), 1e-5);
  EXPECT_LE(distance(got.top, expected.top), 1e-6);
  EXPECT_LE(distance(got.column_sums, expected.column_sums), 1e-5);
  for (Index i = 0; i < got.top_keys.size(); ++i) EXPECT_EQ(got.top_keys.data()[i], expected.top_keys.data()[i]) << i;
  EXPECT_EQ(expected.top_keys.at({1, 0, 8, 2}), -1);  // of two keys the third largest does not exist

  for (const AttentionWeights& weights : {fused, composed}) {
    EXPECT_THROW(weights.rows({9}), Error);
    EXPECT_THROW(weights.rows({0}, {-1}), Error);
    EXPECT_THROW(weights.summaries(0), Error);
    EXPECT_THROW(weights.summaries(13), Error);
  }
}

TEST(FusedChoice, WeightsOutliveTheAttention) {
  const Inputs inputs = random_inputs({}, 1);
  auto instance = std::make_unique<Instance>(small(composed_of("general")));
  const Attended answer = attended(instance->attention, inputs, false);
  instance.reset();
  EXPECT_LE(distance(answer.weights.value(), answer.weights.var().value()), 1e-6);
}

}  // namespace
}  // namespace heed::test
