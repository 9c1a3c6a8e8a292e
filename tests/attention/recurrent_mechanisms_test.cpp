#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"

// What the papers of recurrent models promise of their mechanisms.

namespace heed::test {
namespace {

void expect_uniform(const Tensor& weights, Index length) {
  for (Index row = 0; row < weights.size() / weights.size(-1); ++row)
    for (Index j = 0; j < weights.size(-1); ++j)
      EXPECT_NEAR(static_cast<double>(weights.contiguous().data()[row * weights.size(-1) + j]),
                  j < length ? 1. / static_cast<double>(length) : 0., 1e-7);
}

// Bahdanau, Cho, Bengio 2015 ---------------------------------------------------------------------------------------

TEST(Bahdanau, StartsUniform) {  // v starts at zero
  const Instance instance(small_mechanism("bahdanau"));
  const Inputs inputs = random_inputs({.lengths = {5}}, 1);
  const Answers answers = ask(instance.attention, inputs);
  expect_uniform(answers.weights.value(), 5);
  const Var mean_value = mean(inputs.values, 2);
  for (Index i = 0; i < 3; ++i) EXPECT_LE(distance(at(answers.read, 2, i).value(), mean_value.value()), 1e-6);
}

TEST(Bahdanau, WithoutQueryWeightsEveryStepLooksAlike) {
  Instance instance(small_mechanism("bahdanau"));
  randomise(instance.parameters, 3);
  fill(instance.parameters, "score.query.weight", 0);
  const Answers answers = ask(instance.attention, random_inputs({}, 1));
  for (Index i = 1; i < 3; ++i)
    EXPECT_TRUE(same_bits(at(answers.weights, 2, 0).value(), at(answers.weights, 2, i).value()));
}

TEST(Bahdanau, IsItsEquation) {
  Instance instance(small_mechanism("bahdanau"));
  randomise(instance.parameters, 3);
  const Inputs inputs = random_inputs({.n = 1, .m = 3, .lengths = {3}}, 1);
  const Tensor weights = ask(instance.attention, inputs).weights.value();
  const auto w = [&](const char* name, Index i, Index j) {
    return static_cast<double>(instance.parameters.at(name).value().at({i, j}));
  };
  std::vector<double> e(3, 0.);
  double total = 0;
  for (Index j = 0; j < 3; ++j) {
    for (Index d = 0; d < 4; ++d) {
      double inside = 0;
      for (Index i = 0; i < 4; ++i)
        inside += w("score.query.weight", i, d) * static_cast<double>(inputs.queries.value().at({0, 0, 0, i})) +
                  w("score.key.weight", i, d) * static_cast<double>(inputs.keys.value().at({0, 0, j, i}));
      e[static_cast<std::size_t>(j)] +=
          static_cast<double>(instance.parameters.at("score.v").value().at({d})) * std::tanh(inside);
    }
    total += std::exp(e[static_cast<std::size_t>(j)]);
  }
  for (Index j = 0; j < 3; ++j)
    EXPECT_NEAR(static_cast<double>(weights.at({0, 0, 0, j})), std::exp(e[static_cast<std::size_t>(j)]) / total, 1e-6);
}

// Luong, Pham, Manning 2015 ------------------------------------------------------------------------------------------

TEST(Luong, GeneralWithTheIdentityIsDot) {
  Instance general(small_mechanism("luong-general"));
  set(general.parameters, "score.weight", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  const Instance dot(small_mechanism("luong-dot"));
  const Inputs inputs = random_inputs({}, 1);
  EXPECT_LE(distance(ask(general.attention, inputs).weights.value(), ask(dot.attention, inputs).weights.value()), 1e-6);
}

TEST(Luong, ConcatWithTheIdentityIsTheReleasedForm) {
  Instance concat(small_mechanism("luong-concat")), released(small(composed_of("concat-identity")));
  randomise(concat.parameters, 3);
  set(concat.parameters, "score.key.weight", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  copy_values(concat.parameters, released.parameters);
  const Inputs inputs = random_inputs({}, 1);
  EXPECT_LE(distance(ask(concat.attention, inputs).weights.value(), ask(released.attention, inputs).weights.value()),
            1e-6);
}

TEST(Luong, LocationDoesNotLookAtTheKeys) {
  Instance instance(small_mechanism("luong-location"));
  randomise(instance.parameters, 3);
  Inputs inputs = random_inputs({}, 1);
  const Tensor before = ask(instance.attention, inputs).weights.value();
  inputs.keys = Var(random_tensor(inputs.keys.shape(), 99));
  EXPECT_TRUE(same_bits(before, ask(instance.attention, inputs).weights.value()));
}

TEST(Luong, AWindowAsWideAsTheSourceIsGlobal) {
  AttentionOptions options = small_mechanism("luong-local-m");
  options.half_width = 5;
  Instance local(options), global(small_mechanism("luong-general"));
  randomise(local.parameters, 3);
  copy_values(local.parameters, global.parameters);
  const Inputs inputs = random_inputs({}, 1);
  EXPECT_TRUE(same_bits(ask(local.attention, inputs).weights.value(), ask(global.attention, inputs).weights.value()));
}

TEST(Luong, LocalMSeesDToEachSideOfItsStep) {
  AttentionOptions options = small_mechanism("luong-local-m");
  options.half_width = 1;
  const Instance local(options);
  Inputs inputs = random_inputs({.n = 1, .lengths = {5}}, 1);
  inputs.position = 3;
  const Tensor weights = ask(local.attention, inputs).weights.value();
  for (Index j = 0; j < 5; ++j) EXPECT_EQ(weights.at({0, 0, 0, j}) > 0, j >= 2) << j;
}

struct LocalP {
  explicit LocalP(Index half_width) : instance(options(half_width)), global(small_mechanism("luong-general")) {
    randomise(instance.parameters, 3);
    copy_values(instance.parameters, global.parameters);
  }
  static AttentionOptions options(Index half_width) {
    AttentionOptions o = small_mechanism("luong-local-p");
    o.half_width = half_width;
    return o;
  }
  // p of one query in a sentence of this length.
  double centre(const Inputs& inputs, Index length) const {
    const Var hidden = tanh(matmul(inputs.queries, instance.parameters.at("window.hidden.weight")));
    const Var centre = sigmoid(matmul(hidden, instance.parameters.at("window.centre.weight")));
    return static_cast<double>(centre.value().item()) * static_cast<double>(length - 1);
  }
  Instance instance, global;
};

TEST(Luong, LocalPIsGlobalTimesItsGaussian) {
  const LocalP local(5);  // reaches the whole source
  const Inputs inputs = random_inputs({.n = 1, .lengths = {4}}, 1);
  const double p = local.centre(inputs, 4), sigma = 2.5;
  const Tensor weights = ask(local.instance.attention, inputs).weights.value(),
               plain = ask(local.global.attention, inputs).weights.value();
  double total = 0;
  for (Index j = 0; j < 4; ++j) {
    const double gain = std::exp(-std::pow(static_cast<double>(j) - p, 2) / (2 * sigma * sigma));
    EXPECT_NEAR(static_cast<double>(weights.at({0, 0, 0, j})), gain * static_cast<double>(plain.at({0, 0, 0, j})),
                1e-6);
    total += static_cast<double>(weights.at({0, 0, 0, j}));
  }
  EXPECT_LT(total, 1);
}

TEST(Luong, LocalPWithAVeryWideGaussianIsGlobal) {
  const LocalP local(1000000);
  const Inputs inputs = random_inputs({}, 1);
  EXPECT_LE(distance(ask(local.instance.attention, inputs).weights.value(),
                     ask(local.global.attention, inputs).weights.value()),
            1e-6);
}

TEST(Luong, LocalPSeesDToEachSideOfTheFlooredCentre) {
  const LocalP local(1);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Inputs inputs = random_inputs({.n = 1, .lengths = {5}}, seed);
    const Index middle = static_cast<Index>(std::floor(local.centre(inputs, 5)));
    const Tensor weights = ask(local.instance.attention, inputs).weights.value();
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(weights.at({0, 0, 0, j}) > 0, std::abs(j - middle) <= 1) << seed;
  }
}

// Gehring et al. 2017 ----------------------------------------------------------------------------------------------

TEST(ConvS2S, ReadsValuesThatDifferFromItsKeys) {
  const Instance instance(small_mechanism("convs2s"));
  Inputs inputs = random_inputs({}, 1);
  const Var z = inputs.keys, e = inputs.values;
  const auto read = [&](const Var& values) {
    Inputs asked = inputs;
    asked.values = values;
    return ask(instance.attention, asked);
  };
  const Answers both = read(z + e);
  EXPECT_LE(distance(both.read.value(), (read(z).read + read(e).read).value()), 1e-6);
  EXPECT_TRUE(same_bits(both.weights.value(), softmax(matmul(inputs.queries, z, {.b = true}),
                                                      padding_mask(inputs.lengths, 5).reshape(Shape{2, 1, 1, 5}))
                                                  .value()));
}

// Rocktäschel et al. 2016
// ----------------------------------------------------------------------------------------------

TEST(Rocktaschel, AOneWordPremiseIsRead) {
  Instance instance(small_mechanism("rocktaschel"));
  randomise(instance.parameters, 3);
  const Inputs inputs = random_inputs({.n = 1, .m = 1, .lengths = {1}}, 1);
  EXPECT_TRUE(same_bits(ask(instance.attention, inputs).read.value(), inputs.values.value()));
}

TEST(Rocktaschel, WordByWordWithoutItsPastIsPlain) {
  Instance word_by_word(small_mechanism("rocktaschel-word-by-word")), plain(small_mechanism("rocktaschel"));
  randomise(word_by_word.parameters, 3);
  fill(word_by_word.parameters, "score.read.weight", 0);
  fill(word_by_word.parameters, "score.transition.weight", 0);
  copy_values(word_by_word.parameters, plain.parameters);
  const Inputs inputs = random_inputs({}, 1);
  const Answers a = ask(word_by_word.attention, inputs), b = ask(plain.attention, inputs);
  EXPECT_LE(distance(a.weights.value(), b.weights.value()), 1e-6);
  EXPECT_LE(distance(a.read.value(), b.read.value()), 1e-6);
}

// r_2 = Y α_2 + tanh(W r_1).
TEST(Rocktaschel, WordByWordAddsWhatItReadBefore) {
  Instance instance(small_mechanism("rocktaschel-word-by-word"));
  randomise(instance.parameters, 3);
  const Inputs inputs = random_inputs({.n = 2}, 1);
  const Answers answers = ask(instance.attention, inputs);
  const Var fresh = matmul(slice(answers.weights, 2, 1, 2), inputs.values);
  const Var kept = tanh(matmul(slice(answers.read, 2, 0, 1), instance.parameters.at("score.transition.weight")));
  EXPECT_LE(distance((fresh + kept).value(), slice(answers.read, 2, 1, 2).value()), 1e-6);
}

// Chorowski et al. 2015 ----------------------------------------------------------------------------------------------

TEST(Chorowski, WithoutFiltersIsContentAttention) {
  Instance hybrid(small_mechanism("chorowski")), content(small(composed_of("concat")));
  randomise(hybrid.parameters, 3);
  fill(hybrid.parameters, "score.filters", 0);
  fill(hybrid.parameters, "score.key.bias", 0);
  copy_values(hybrid.parameters, content.parameters);
  const Inputs inputs = random_inputs({}, 1);
  EXPECT_LE(distance(ask(hybrid.attention, inputs).weights.value(), ask(content.attention, inputs).weights.value()),
            1e-6);
}

// Shifting the memory and the last weights together shifts the weights, away from the edges.
TEST(Chorowski, FollowsAShift) {
  for (const char* name : {"chorowski", "chorowski-smoothed"}) {
    SCOPED_TRACE(name);
    Instance instance(small_mechanism(name));
    randomise(instance.parameters, 3);
    constexpr Index m = 9;
    const auto step = [&](Index shift) {
      // Three frames with something to hear at 3..5, silence around them.
      const Tensor heard = random_tensor(Shape{3, 4}, 8);
      Tensor keys(Shape{1, 1, m, 4}, Real{0}), last(Shape{1, 1, 1, m}, Real{0});
      std::copy_n(heard.data(), heard.size(), keys.data() + (3 + shift) * 4);
      last.data()[3 + shift] = 0.75;
      last.data()[4 + shift] = 0.25;
      Past past;
      past.weights = Var(last);
      Query query;
      query.vectors = Var(random_tensor(Shape{1, 1, 1, 4}, 9));
      query.past = &past;
      return instance.attention(query, instance.attention.memory(Var(keys), Var(keys))).weights.value();
    };
    const Tensor before = step(0), after = step(1);
    for (Index j = 0; j + 1 < m; ++j)
      EXPECT_NEAR(static_cast<double>(before.data()[j]), static_cast<double>(after.data()[j + 1]), 1e-6) << j;
  }
}

// The published filters are wider than many utterances.
TEST(Chorowski, FiltersMayBeWiderThanTheMemory) {
  AttentionOptions options = small_mechanism("chorowski");
  options.filter_width = 201;
  Instance instance(options);
  randomise(instance.parameters, 3);
  const Inputs inputs = random_inputs({}, 1);
  const Tensor weights = ask(instance.attention, inputs).weights.value();
  EXPECT_NEAR(static_cast<double>(sum(Var(weights)).value().item()), 6, 1e-5);
}

// e at frame j after a first step: w·tanh(U F_{centre - j}), for α' = onehot(0) and nothing else.
TEST(Chorowski, ConvolvesWithTheFilterCentred) {
  AttentionOptions options = small_mechanism("chorowski");
  options.filters = 1;
  options.score_width = 1;
  Instance instance(options);
  for (auto& entry : instance.parameters.entries()) fill(instance.parameters, entry.name, 0);
  set(instance.parameters, "score.filters", {.1, .2, .4});
  set(instance.parameters, "score.filter.weight", {1});
  set(instance.parameters, "score.v", {1});
  const Tensor weights = ask(instance.attention, random_inputs({.n = 1, .m = 3, .lengths = {3}}, 1)).weights.value();
  // f_j = Σ_k F_k α'_{j + k - 1}: α' at 0 reaches j = 0 through F_1 and j = 1 through F_0.
  const double a = std::exp(std::tanh(.2)), b = std::exp(std::tanh(.1)), c = 1, total = a + b + c;
  EXPECT_NEAR(static_cast<double>(weights.data()[0]), a / total, 1e-6);
  EXPECT_NEAR(static_cast<double>(weights.data()[1]), b / total, 1e-6);
  EXPECT_NEAR(static_cast<double>(weights.data()[2]), c / total, 1e-6);
}

TEST(Chorowski, WindowsAroundTheMedianOfTheLastWeights) {
  AttentionOptions options = small(composed_of("dot", "median"));
  options.half_width = 1;
  const Instance instance(options);
  const Inputs inputs = random_inputs({.n = 1, .m = 6, .lengths = {6}}, 1);
  const auto seen = [&](std::initializer_list<Real> last) {
    Past past;
    if (last.size() > 0) past.weights = Var(Tensor(Shape{1, 1, 1, 6}, last));
    Query query;
    query.vectors = inputs.queries;
    query.past = &past;
    const Attended one = instance.attention(query, instance.attention.memory(inputs.keys, inputs.values));
    std::string places;
    for (Index j = 0; j < 6; ++j) places += one.weights.value().data()[j] > 0 ? 'x' : '.';
    return places;
  };
  EXPECT_EQ(seen({}), "xx....");  // the first step
  EXPECT_EQ(seen({0, 0, 0, 1, 0, 0}), "..xxx.");
  EXPECT_EQ(seen({.5F, 0, 0, .5F, 0, 0}), "xx....");  // reaches one half at the first
  EXPECT_EQ(seen({.25F, 0, .125F, .25F, .25F, .125F}), "..xxx.");
  EXPECT_EQ(seen({0, 0, 0, 0, 0, 1}), "....xx");
  EXPECT_EQ(seen({0, 0, 0, 0, .25F, 0}), "...xxx");  // monotonic weights of which most passed the end
  EXPECT_EQ(seen({0, 0, 0, 0, 0, 0}), "xx....");     // and of which all did
}

// Rush, Chopra, Weston 2015
// --------------------------------------------------------------------------------------------

TEST(Rush, WithoutItsMatrixIsABagOfWords) {
  Instance instance(small_mechanism("rush"));
  fill(instance.parameters, "score.weight", 0);
  expect_uniform(ask(instance.attention, random_inputs({.m = 4, .lengths = {3}}, 1)).weights.value(), 3);
}

// Tu et al. 2016; See, Liu, Manning 2017
// ---------------------------------------------------------------------------------

TEST(Coverage, WithoutItsWeightsIsTheBaseline) {
  for (const char* name : {"see", "tu"}) {
    SCOPED_TRACE(name);
    Instance coverage(small_mechanism(name)), baseline(small(composed_of("concat")));
    randomise(coverage.parameters, 3);
    fill(coverage.parameters, "score.coverage.weight", 0);
    fill(coverage.parameters, "score.key.bias", 0);
    copy_values(coverage.parameters, baseline.parameters);
    const Inputs inputs = random_inputs({}, 1);
    EXPECT_LE(
        distance(ask(coverage.attention, inputs).weights.value(), ask(baseline.attention, inputs).weights.value()),
        1e-6);
  }
}

TEST(Coverage, SumsAllPastWeights) {
  Instance instance(small_mechanism("see"));
  randomise(instance.parameters, 3);
  const Inputs inputs = random_inputs({}, 1);
  const Memory memory = instance.attention.memory(inputs.keys, inputs.values, inputs.lengths);
  Past past;
  Tensor total(Shape{2, 1, 1, 5}, Real{0});
  for (Index step = 0; step < 3; ++step) {
    Query query;
    query.vectors = slice(inputs.queries, 2, step, step + 1);
    query.past = &past;
    const Attended one = instance.attention(query, memory);
    past = one.past;
    total = (Var(total) + one.weights).value();
    EXPECT_LE(distance(past.coverage.value(), total), 1e-6);
    EXPECT_FALSE(past.weights);  // only what is declared is carried
    EXPECT_FALSE(past.read);
  }
}

// Φ_j = N σ(u·k_j): with u = 0 it is N/2 everywhere, so N = 2 is plain sums and twice the N halves what is felt.
TEST(Coverage, FertilityDividesTheSums) {
  AttentionOptions options = small_mechanism("tu");
  Instance two(options), plain(small_mechanism("see"));
  options.fertility = 4;
  Instance four(options);
  randomise(two.parameters, 3);
  fill(two.parameters, "score.fertility.weight", 0);
  copy_values(two.parameters, plain.parameters);
  copy_values(two.parameters, four.parameters);
  const Inputs inputs = random_inputs({}, 1);
  EXPECT_LE(distance(ask(two.attention, inputs).weights.value(), ask(plain.attention, inputs).weights.value()), 1e-6);
  EXPECT_GT(distance(ask(two.attention, inputs).weights.value(), ask(four.attention, inputs).weights.value()), 1e-4);
  for (auto& entry : four.parameters.entries())
    if (entry.name == "score.coverage.weight")
      for (Real& x : entry.var.value().values()) x *= 2;
  EXPECT_LE(distance(ask(two.attention, inputs).weights.value(), ask(four.attention, inputs).weights.value()), 1e-6);
}

}  // namespace
}  // namespace heed::test
