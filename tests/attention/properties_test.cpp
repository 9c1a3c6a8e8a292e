#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

// What holds for every composition, driven by the registries.

namespace heed::test {
namespace {

// Parts whose weights may sum to less than one.
bool may_lose_mass(const AttentionOptions& options) {
  return options.window == "local-p" || options.normaliser == "monotonic";
}
// Parts that know where a position stands.
const std::set<std::string> kPositional = {"location", "location-aware", "relative", "alibi", "rotary", "monotonic"};

struct Case {
  explicit Case(const Composition& composition) : options(composition.options), instance(options) {
    randomise(instance.parameters, 3);
  }
  Answers ask(const Inputs& inputs) const { return test::ask(instance.attention, inputs); }
  AttentionOptions options;
  Instance instance;
};

template <class Body>
void for_every_composition(const Body& body) {
  static const std::vector<Composition> all = every_composition();
  ASSERT_GT(all.size(), 300U);
  for (const Composition& composition : all) {
    SCOPED_TRACE(composition.name);
    body(Case(composition));
  }
}

Tensor only(const Tensor& x, Index sentence) { return x.slice(0, sentence, sentence + 1); }

// The sentence by itself, without its padding.
Inputs alone(const Inputs& inputs, Index sentence) {
  const std::int32_t length = inputs.lengths.data()[sentence];
  const auto cut = [&](const Var& x) { return Var(only(x.value(), sentence).slice(2, 0, length).copy()); };
  return {Var(only(inputs.queries.value(), sentence).copy()), cut(inputs.keys), cut(inputs.values), ids({length}),
          inputs.position};
}

TEST(EveryComposition, GivesNothingToPaddingAndOneToTheRest) {
  for_every_composition([](const Case& one) {
    const Inputs inputs = random_inputs({.lengths = {5, 3, 1}}, 1);
    const Tensor weights = one.ask(inputs).weights.value().contiguous();
    const Index rows = weights.size(2), m = weights.size(3);
    for (Index b = 0; b < 3; ++b) {
      for (Index row = 0; row < rows; ++row) {
        double sum = 0;
        for (Index j = 0; j < m; ++j) {
          const double weight = static_cast<double>(weights.at({b, 0, row, j}));
          EXPECT_GE(weight, 0);
          if (j >= inputs.lengths.data()[b]) {
            EXPECT_EQ(weight, 0) << "padding " << j << " of sentence " << b;
          }
          sum += weight;
        }
        if (may_lose_mass(one.options)) {
          EXPECT_LE(sum, 1 + 1e-6) << "sentence " << b << " row " << row;
        } else if (sum != 0) {
          EXPECT_NEAR(sum, 1, 1e-6) << "sentence " << b << " row " << row;
        } else {  // a window that sees nothing but padding
          EXPECT_TRUE(b == 2 && row > 0 && one.options.window != "global") << "sentence " << b << " row " << row;
        }
      }
    }
  });
}

// To rounding: a matrix product may take another kernel for another number of rows. Bit-identical results are the
// promise of the batch-invariant mode.
TEST(EveryComposition, IsTheSameAloneAndPadded) {
  for_every_composition([](const Case& one) {
    const Inputs inputs = random_inputs({.lengths = {5, 3}}, 1);
    const Answers together = one.ask(inputs);
    for (Index sentence = 0; sentence < 2; ++sentence) {
      const Answers by_itself = one.ask(alone(inputs, sentence));
      const Index length = inputs.lengths.data()[sentence];
      const Tensor weights = only(together.weights.value(), sentence).slice(3, 0, length);
      EXPECT_LE(distance(by_itself.weights.value(), weights), 1e-6) << "sentence " << sentence;
      EXPECT_LE(distance(by_itself.read.value(), only(together.read.value(), sentence)), 1e-6)
          << "sentence " << sentence;
    }
  });
}

TEST(EveryComposition, NeverLooksAtPadding) {
  for_every_composition([](const Case& one) {
    const Inputs inputs = random_inputs({.lengths = {5, 3}}, 1);
    const Answers before = one.ask(inputs);
    for (const Var& memory : {inputs.keys, inputs.values}) {
      Tensor numbers = memory.value();  // shares the memory
      for (Index i = 3 * 4; i < 5 * 4; ++i) numbers.data()[5 * 4 + i] = 1000;
    }
    const Answers after = one.ask(inputs);
    EXPECT_TRUE(same_bits(before.weights.value(), after.weights.value()));
    EXPECT_TRUE(same_bits(before.read.value(), after.read.value()));
  });
}

TEST(EveryComposition, HoldsToAMaskOfTheCallers) {
  for_every_composition([](const Case& one) {
    if (one.options.score == "context" || one.options.score == "rows" || one.instance.attention.carries().any()) return;
    const Inputs inputs = random_inputs({.n = 2, .m = 5, .lengths = {5, 5}}, 1);
    Query query;
    query.vectors = inputs.queries;
    query.visible = Mask(Shape{2, 5}, {true, true, false, true, false, false, true, true, true, true});
    const Memory memory = one.instance.attention.memory(inputs.keys, inputs.values, inputs.lengths);
    const Tensor weights = one.instance.attention(query, memory).weights.value().contiguous();
    double most = 0;
    for (Index at = 0; at < weights.size(); ++at) {
      const double weight = static_cast<double>(weights.data()[at]);
      if (query.visible.data()[at % 10]) {
        most = std::max(most, weight);
      } else {
        EXPECT_EQ(weight, 0) << at;
      }
    }
    EXPECT_GT(most, 0);
  });
}

TEST(EveryComposition, AnswersNothingFromAnEmptySentence) {
  for_every_composition([](const Case& one) {
    const Inputs inputs = random_inputs({.lengths = {5, 0}}, 1);
    const Answers answers = one.ask(inputs);
    Gradients gradients;
    backward(sum(square(answers.read)) + sum(square(answers.weights)), gradients);
    const auto expect_zeros = [](const Tensor& x, const char* what) {
      const Tensor numbers = only(x, 1).contiguous();
      for (const Real number : numbers.values()) EXPECT_EQ(number, 0) << what;
    };
    expect_zeros(answers.weights.value(), "weights");
    expect_zeros(answers.read.value(), "read");
    expect_zeros(gradients.of(inputs.queries), "gradient of the queries");
    expect_zeros(gradients.of(inputs.keys), "gradient of the keys");
    expect_zeros(gradients.of(inputs.values), "gradient of the values");
    for (const auto& entry : one.instance.parameters.entries()) {
      const Tensor gradient = gradients.of(entry.var).contiguous();
      for (const Real number : gradient.values()) EXPECT_TRUE(std::isfinite(number)) << entry.name;
    }
  });
}

TEST(EveryComposition, GivesAllToTheOnlyPosition) {
  for_every_composition([](const Case& one) {
    AttentionOptions options = one.options;
    options.top_k = 1;
    Instance instance(options);
    randomise(instance.parameters, 3);
    const Inputs inputs = random_inputs({.n = 1, .m = 1, .lengths = {1, 1}}, 1);
    const Answers answers = test::ask(instance.attention, inputs);
    const Tensor weights = answers.weights.value().contiguous();
    for (const Real weight : weights.values()) {
      if (options.normaliser == "monotonic") {
        EXPECT_LT(weight, 1);  // the scan may pass the end
        EXPECT_GT(weight, 0);
      } else {
        EXPECT_EQ(weight, 1);  // the centre of local-p is the only position there is
      }
    }
  });
}

TEST(EveryComposition, FollowsAPermutationOfTheMemory) {
  for_every_composition([](const Case& one) {
    const AttentionOptions& options = one.options;
    if (options.window != "global" || kPositional.count(options.score) || kPositional.count(options.normaliser))
      return;  // depends on positions
    if (options.score == "uniform" && (options.normaliser == "hard" || options.normaliser == "sharpened"))
      return;  // the first of equal scores is picked
    const Inputs inputs = random_inputs({.lengths = {5, 5}}, 1);
    const Ids order = ids({3, 0, 4, 2, 1});
    const auto permuted = [&](const Var& x, int axis) { return gather(x, axis, order); };
    const Inputs moved = {inputs.queries, permuted(inputs.keys, 2), permuted(inputs.values, 2), inputs.lengths};
    const Answers before = one.ask(inputs), after = one.ask(moved);
    EXPECT_LE(distance(permuted(before.weights, 3).value(), after.weights.value()), 1e-6);
    EXPECT_LE(distance(before.read.value(), after.read.value()), 1e-5);
  });
}

TEST(EveryComposition, AnswersNoQueriesWithNothing) {
  for_every_composition([](const Case& one) {
    if (one.options.score == "context" || one.options.score == "rows" || one.instance.attention.carries().any())
      return;  // the number of queries is fixed
    const Answers answers = one.ask(random_inputs({.n = 0}, 1));
    EXPECT_EQ(answers.weights.shape(), (Shape{2, 1, 0, 5}));
    EXPECT_EQ(answers.read.shape(), (Shape{2, 1, 0, 4}));
  });
}

}  // namespace
}  // namespace heed::test
