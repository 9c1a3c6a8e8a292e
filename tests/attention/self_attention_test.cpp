#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

// What the papers of Transformers and self-attentive encoders promise of their mechanisms.

namespace heed::test {
namespace {

Inputs square_inputs(Index n, Index heads = 1) {
  return random_inputs({.heads = heads, .n = n, .m = n, .lengths = {static_cast<std::int32_t>(n)}}, 1);
}

// The scores alone.
Tensor scores(const Score& score, const Inputs& inputs) {
  Memory memory{inputs.keys, inputs.values, inputs.lengths, score.prepare(inputs.keys, 0)};
  Query query;
  query.vectors = inputs.queries;
  query.position = inputs.position;
  return score(query, memory).value().contiguous();
}

// Vaswani et al. 2017 ------------------------------------------------------------------------------------------------

// The point of 1/√d: for unit-normal q and k the scores keep a variance of one, whatever the width.
TEST(Transformer, ScaledScoresOfUnitNormalsHaveUnitVariance) {
  Parameters none;
  for (const Index width : {16, 256}) {
    const Shape shape{1, 1, 128, width};
    Inputs inputs;
    inputs.queries = Var(random_tensor(shape, 1));
    inputs.keys = inputs.values = Var(random_tensor(shape, 2));
    const Tensor e = scores(*make_score("scaled-dot", none, {}), inputs);
    double squares = 0;
    for (const Real x : e.values()) squares += static_cast<double>(x) * static_cast<double>(x);
    EXPECT_NEAR(squares / static_cast<double>(e.size()), 1, 0.1) << width;
  }
}

TEST(Transformer, CausalStepsDoNotSeeTheFuture) {
  for (const auto& score : RegisterScore::entries()) {
    if (score.name == "context" || score.name == "rows") continue;  // refused with this window
    SCOPED_TRACE(score.name);
    Instance instance(small(composed_of(score.name, "causal")));
    randomise(instance.parameters, 3);
    Inputs inputs = square_inputs(5);
    const Answers before = ask(instance.attention, inputs);
    for (const Var& memory : {inputs.keys, inputs.values}) {
      Tensor numbers = memory.value();  // shares the memory
      for (Index i = 3 * 4; i < 4 * 4; ++i) numbers.data()[i] += 1;
    }
    const Answers after = ask(instance.attention, inputs);
    EXPECT_TRUE(same_bits(slice(before.read, 2, 0, 3).value(), slice(after.read, 2, 0, 3).value()));
    EXPECT_FALSE(same_bits(slice(before.read, 2, 3, 4).value(), slice(after.read, 2, 3, 4).value()));
    for (Index i = 0; i < 5; ++i)
      for (Index j = i + 1; j < 5; ++j) EXPECT_EQ(before.weights.value().at({0, 0, i, j}), 0);
  }
}

TEST(Transformer, RestrictedAsWideAsTheSequenceIsFull) {
  AttentionOptions options = small_mechanism("restricted");
  options.neighbours = 8;  // reaches 4 = n - 1 to each side
  const Instance restricted(options), full(small_mechanism("transformer"));
  const Inputs inputs = square_inputs(5);
  const Answers a = ask(restricted.attention, inputs), b = ask(full.attention, inputs);
  EXPECT_TRUE(same_bits(a.weights.value(), b.weights.value()));
  EXPECT_TRUE(same_bits(a.read.value(), b.read.value()));
}

TEST(Transformer, RestrictedToOneReadsItsOwnValue) {
  AttentionOptions options = small_mechanism("restricted");
  options.neighbours = 1;
  const Instance instance(options);
  const Inputs inputs = square_inputs(5);
  EXPECT_TRUE(same_bits(ask(instance.attention, inputs).read.value(), inputs.values.value()));
}

TEST(Transformer, RestrictedSeesHalfToEachSide) {
  AttentionOptions options = small_mechanism("restricted");
  options.neighbours = 4;
  const Instance instance(options);
  const Tensor weights = ask(instance.attention, square_inputs(8)).weights.value();
  for (Index i = 0; i < 8; ++i)
    for (Index j = 0; j < 8; ++j) EXPECT_EQ(weights.at({0, 0, i, j}) > 0, std::abs(i - j) <= 2) << i << ", " << j;
}

// Beltagy, Peters, Cohan 2020
// --------------------------------------------------------------------------------------------

TEST(Longformer, AllTokensGlobalIsFull) {
  AttentionOptions options = small_mechanism("longformer");
  options.neighbours = 1;
  options.global_tokens = 5;
  const Instance sliding(options), full(small_mechanism("transformer"));
  const Inputs inputs = square_inputs(5);
  EXPECT_TRUE(same_bits(ask(sliding.attention, inputs).read.value(), ask(full.attention, inputs).read.value()));
}

TEST(Longformer, GlobalTokensSeeAndAreSeen) {
  AttentionOptions options = small_mechanism("longformer");
  options.neighbours = 2;
  options.global_tokens = 1;
  const Instance instance(options);
  const Tensor weights = ask(instance.attention, square_inputs(6)).weights.value();
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j)
      EXPECT_EQ(weights.at({0, 0, i, j}) > 0, std::abs(i - j) <= 1 || i == 0 || j == 0) << i << ", " << j;
  options.global_tokens = 0;
  AttentionOptions restricted_options = small_mechanism("restricted");
  restricted_options.neighbours = 2;
  const Instance none(options), restricted(restricted_options);
  const Inputs inputs = square_inputs(6);
  EXPECT_TRUE(same_bits(ask(none.attention, inputs).read.value(), ask(restricted.attention, inputs).read.value()));
}

// Shaw, Uszkoreit, Vaswani 2018
// ------------------------------------------------------------------------------------------

TEST(Shaw, WithoutItsVectorsIsPlain) {
  Instance shaw(small_mechanism("shaw"));
  fill(shaw.parameters, "score.keys", 0);
  fill(shaw.parameters, "score.values", 0);
  const Instance plain(small_mechanism("transformer"));
  const Inputs inputs = square_inputs(5, 2);
  EXPECT_LE(distance(ask(shaw.attention, inputs).read.value(), ask(plain.attention, inputs).read.value()), 1e-6);
}

TEST(Shaw, IsItsEquation) {
  Instance shaw(small_mechanism("shaw"));  // 2 to each side
  randomise(shaw.parameters, 3);
  const Inputs inputs = square_inputs(5);
  const Answers answers = ask(shaw.attention, inputs);
  const Tensor &aK = shaw.parameters.at("score.keys").value(), &aV = shaw.parameters.at("score.values").value();
  for (Index i = 0; i < 5; ++i) {
    std::vector<double> e(5), read(4, 0.);
    double total = 0;
    for (Index j = 0; j < 5; ++j) {
      const Index r = std::clamp<Index>(j - i, -2, 2) + 2;
      double dot = 0;
      for (Index d = 0; d < 4; ++d)
        dot += static_cast<double>(inputs.queries.value().at({0, 0, i, d})) *
               static_cast<double>(inputs.keys.value().at({0, 0, j, d}) + aK.at({r, d}));
      total += e[static_cast<std::size_t>(j)] = std::exp(dot / 2);
    }
    for (Index j = 0; j < 5; ++j) {
      const Index r = std::clamp<Index>(j - i, -2, 2) + 2;
      const double weight = e[static_cast<std::size_t>(j)] / total;
      EXPECT_NEAR(static_cast<double>(answers.weights.value().at({0, 0, i, j})), weight, 1e-6);
      for (Index d = 0; d < 4; ++d)
        read[static_cast<std::size_t>(d)] +=
            weight * static_cast<double>(inputs.values.value().at({0, 0, j, d}) + aV.at({r, d}));
    }
    for (Index d = 0; d < 4; ++d)
      EXPECT_NEAR(static_cast<double>(answers.read.value().at({0, 0, i, d})), read[static_cast<std::size_t>(d)], 1e-5);
  }
}

// Scores of these depend on i - j alone: the same vectors further on give the same numbers.
TEST(RelativePositions, ScoresAreShiftInvariant) {
  for (const char* name : {"relative", "alibi", "rotary"}) {
    SCOPED_TRACE(name);
    Parameters parameters;
    const auto score = make_score(name, parameters, small({}));
    randomise(parameters, 3);
    constexpr Index shift = 3;
    const Inputs inputs = square_inputs(4);
    Inputs later = inputs;
    later.keys = later.values = pad(inputs.keys, 2, shift, 0);
    later.position = shift;
    const Tensor before = scores(*score, inputs), after = scores(*score, later).slice(3, shift, shift + 4);
    EXPECT_LE(distance(before, after), 1e-6);
  }
}

// Press, Smith, Lewis 2022
// -----------------------------------------------------------------------------------------------

TEST(Alibi, EightHeadsHaveSlopesFromAHalfTo256th) {
  Parameters none;
  Inputs inputs;
  inputs.queries = inputs.keys = inputs.values = Var(Tensor(Shape{1, 8, 3, 4}, Real{0}));
  const Tensor e = scores(*make_score("alibi", none, {}), inputs);
  for (Index h = 0; h < 8; ++h)
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j)
        EXPECT_EQ(static_cast<double>(e.at({0, h, i, j})),
                  -static_cast<double>(std::abs(i - j)) / std::exp2(static_cast<double>(h + 1)));
}

TEST(Alibi, FarAheadOnlyTheDistanceCounts) {  // a constant along the row changes nothing
  Instance alibi(small_mechanism("alibi")), plain(small_mechanism("transformer"));
  Inputs inputs = square_inputs(3);
  for (Real& x : inputs.queries.value().values()) x = 0;
  inputs.position = 2;
  const Tensor near = ask(alibi.attention, inputs).weights.value();
  inputs.position = 4;
  const Tensor far = ask(alibi.attention, inputs).weights.value();
  EXPECT_LE(distance(near.slice(2, 0, 1), far.slice(2, 0, 1)), 1e-6);
}

// Su et al. 2021
// -----------------------------------------------------------------------------------------------------------

TEST(Rotary, KeepsNormsAndTurnsByThePosition) {
  Parameters none;
  const auto rotary = make_score("rotary", none, small({}));
  const Var x(random_tensor(Shape{1, 1, 6, 4}, 1));
  const Tensor turned = rotary->prepare(x, 0).value().contiguous();
  for (Index p = 0; p < 6; ++p) {
    for (Index i = 0; i < 2; ++i) {
      const double rate = i == 0 ? 1 : 0.01, angle = static_cast<double>(p) * rate;
      const double a = static_cast<double>(x.value().at({0, 0, p, 2 * i})),
                   b = static_cast<double>(x.value().at({0, 0, p, 2 * i + 1}));
      EXPECT_NEAR(static_cast<double>(turned.at({0, 0, p, 2 * i})), a * std::cos(angle) - b * std::sin(angle), 1e-6);
      EXPECT_NEAR(static_cast<double>(turned.at({0, 0, p, 2 * i + 1})), a * std::sin(angle) + b * std::cos(angle),
                  1e-6);
    }
  }
  EXPECT_LE(distance(sum(square(x), -1).value(), sum(square(Var(turned)), -1).value()), 2e-6);
}

// Yang et al. 2016; Lin et al. 2017
// ----------------------------------------------------------------------------------------

TEST(Hierarchical, WithoutAContextVectorIsTheMean) {
  for (const std::vector<const char*>& zeros :
       {std::vector<const char*>{"score.rows"}, {"score.key.weight", "score.key.bias"}}) {
    Instance instance(small_mechanism("hierarchical"));
    randomise(instance.parameters, 3);
    for (const char* name : zeros) fill(instance.parameters, name, 0);
    const Inputs inputs = random_inputs({.n = 1, .m = 4, .lengths = {4}}, 1);
    EXPECT_LE(
        distance(ask(instance.attention, inputs).read.value().reshape(Shape{1, 1, 4}), mean(inputs.values, 2).value()),
        1e-6);
  }
}

TEST(Hierarchical, AnAllPaddingSentenceChangesNothing) {
  Instance instance(small_mechanism("hierarchical"));
  randomise(instance.parameters, 3);
  // Sentences of a document: the third has no words, so its vector is zero and it is beyond the document's length.
  const Inputs words = random_inputs({.n = 1, .m = 4, .lengths = {4, 2, 0}}, 1);
  const Var sentences = reshape(ask(instance.attention, words).read, Shape{1, 1, 3, 4});
  const auto document = [&](Index count) {
    Inputs inputs;
    inputs.queries = Var(Tensor(Shape{1, 1, 1, 4}, Real{0}));
    inputs.keys = inputs.values = slice(sentences, 2, 0, count);
    inputs.lengths = ids({2});
    return ask(instance.attention, inputs).read.value();
  };
  EXPECT_TRUE(same_bits(document(2), document(3)));
}

TEST(Structured, OneRowIsAdditivePooling) {
  AttentionOptions options = small_mechanism("structured");
  options.rows = 1;
  Instance structured(options), pooling(small_mechanism("hierarchical"));
  randomise(structured.parameters, 3);
  fill(pooling.parameters, "score.key.bias", 0);
  for (const char* name : {"score.key.weight", "score.rows"}) {
    Tensor to = pooling.parameters.at(name).value();
    const Tensor& from = structured.parameters.at(name).value();
    std::copy_n(from.data(), from.size(), to.data());
  }
  const Inputs inputs = random_inputs({.n = 1}, 1);
  EXPECT_LE(distance(ask(structured.attention, inputs).read.value(), ask(pooling.attention, inputs).read.value()),
            1e-6);
}

TEST(Structured, HasAsManyRowsAsAsked) {
  AttentionOptions options = small_mechanism("structured");
  options.rows = 7;
  const Instance instance(options);
  const Answers answers = ask(instance.attention, random_inputs({.n = 1}, 1));
  EXPECT_EQ(answers.weights.shape(), (Shape{2, 1, 7, 5}));
  EXPECT_EQ(answers.read.shape(), (Shape{2, 1, 7, 4}));
}

}  // namespace
}  // namespace heed::test
