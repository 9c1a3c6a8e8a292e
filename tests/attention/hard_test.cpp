#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "attention/composition_cases.h"
#include "heed/attention/losses.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"

// Xu et al. 2015: hard attention and its REINFORCE gradient, held against enumeration.

namespace heed::test {
namespace {

constexpr Index kPlaces = 3;

AttentionOptions hard_options(double soft_mixing) {
  AttentionOptions options;
  options.score = "location";
  options.normaliser = "hard";
  options.query_width = 2;
  options.key_width = options.value_width = 2;
  options.longest = kPlaces;
  options.soft_mixing = soft_mixing;
  return options;
}

// e = Wᵀ q over three places.
struct Model {
  Model() : instance(hard_options(0)) { randomise(instance.parameters, 4, 1); }
  Var weight() const { return instance.parameters.at("score.weight"); }

  Attended look(const Var& query, RandomKey key) const {
    Query asked;
    asked.vectors = reshape(query, Shape{1, 1, 1, 2});
    asked.training = true;
    asked.key = key;
    return instance.attention(
        asked, instance.attention.memory(reshape(values, Shape{1, kPlaces, 2}), reshape(values, Shape{1, kPlaces, 2})));
  }
  // A key whose sample is this place.
  RandomKey key_for(const Var& query, Index place) const {
    for (std::uint64_t seed = 0; seed < 1000; ++seed)
      if (look(query, RandomKey{seed, 0}).weights.value().at({0, 0, 0, place}) == 1) return RandomKey{seed, 0};
    fail("[test] place {} is never sampled", place);
  }

  Instance instance;
  Var values = Var::leaf(random_tensor(Shape{kPlaces, 2}, 5));
  std::array<Var, 2> queries = {Var(Tensor(Shape{2}, {1, -0.5F})), Var(Tensor(Shape{2}, {0.25F, 1}))};
  // log p(y | s): a smooth function of what was read in the two steps.
  static Var log_likelihood(const Var& first, const Var& second) {
    return negate(sum(square(reshape(first, Shape{2}) + scale(reshape(second, Shape{2}), 0.5F))));
  }
};

TEST(Reinforce, GoldenNumbers) {
  const std::array<double, 3> theta = {.3, -.2, .7}, reward = {1, 2, -1}, expected = {.247622, .345949, -.593571};
  for (const double baseline : {0., 1.5, -4.}) {
    const Var scores = Var::leaf(Tensor(Shape{3}, {.3F, -.2F, .7F}));
    double total = 0;
    for (const double t : theta) total += std::exp(t);
    std::array<double, 3> mean{};
    for (std::size_t s = 0; s < 3; ++s) {  // the expectation, place by place
      const Var log_probability = slice(log_softmax(scores), 0, static_cast<Index>(s), static_cast<Index>(s) + 1);
      const Var loss = reinforce_loss(log_probability, Var(Tensor(Shape{1}, Real{0})),
                                      Tensor(Shape{1}, static_cast<Real>(reward[s])), baseline,
                                      {.reward_weight = 1, .entropy_weight = 0});
      const Tensor gradient = backward(loss).of(scores);
      for (std::size_t i = 0; i < 3; ++i)
        mean[i] -= std::exp(theta[s]) / total * static_cast<double>(gradient.data()[i]);
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(mean[i], expected[i], 2e-6) << "baseline " << baseline;
  }
}

// All nine pairs of places: with λ_r = 1, λ_e = 0 and without soft mixing the mean of the estimator is the gradient of
// the bound L = Σ_s p(s) log p(y | s), whatever the constant baseline.
TEST(Reinforce, IsUnbiasedByEnumeration) {
  const Model model;
  std::array<std::array<RandomKey, kPlaces>, 2> keys;
  for (std::size_t step = 0; step < 2; ++step)
    for (Index place = 0; place < kPlaces; ++place)
      keys[step][static_cast<std::size_t>(place)] = model.key_for(model.queries[step], place);

  // Exactly: the bound written out and differentiated.
  const auto distribution = [&](std::size_t step) {
    return softmax(reshape(matmul(reshape(model.queries[step], Shape{1, 2}), model.weight()), Shape{kPlaces}));
  };
  Var bound(Tensor::scalar(0));
  double likelihood = 0;
  for (Index first = 0; first < kPlaces; ++first) {
    for (Index second = 0; second < kPlaces; ++second) {
      const Var p = at(distribution(0), 0, first) * at(distribution(1), 0, second);
      const Var log_p = Model::log_likelihood(at(model.values, 0, first), at(model.values, 0, second));
      likelihood += static_cast<double>(p.value().item()) * std::exp(static_cast<double>(log_p.value().item()));
      bound = bound + p * log_p;
    }
  }
  EXPECT_LE(static_cast<double>(bound.value().item()), std::log(likelihood));  // Jensen
  const Gradients exact = backward(bound);

  for (const double baseline : {0., 2., -3.}) {
    SCOPED_TRACE(baseline);
    std::array<std::vector<double>, 2> mean;
    const std::array<Var, 2> leaves = {model.weight(), model.values};
    for (std::size_t leaf = 0; leaf < 2; ++leaf) mean[leaf].assign(static_cast<std::size_t>(leaves[leaf].size()), 0);
    for (const RandomKey& first : keys[0]) {
      for (const RandomKey& second : keys[1]) {
        const Attended a = model.look(model.queries[0], first), b = model.look(model.queries[1], second);
        const Var log_likelihood = Model::log_likelihood(a.read, b.read);
        const Var log_probability = concat({a.sampled.log_probability, b.sampled.log_probability}, 2);
        const Var entropy = concat({a.sampled.entropy, b.sampled.entropy}, 2);
        const double p = std::exp(static_cast<double>(sum(log_probability).value().item()));
        const Tensor reward(log_probability.shape(), log_likelihood.value().item());
        const Var loss = negate(log_likelihood) + reinforce_loss(log_probability, entropy, reward, baseline,
                                                                 {.reward_weight = 1, .entropy_weight = 0});
        const Gradients one = backward(loss);
        for (std::size_t leaf = 0; leaf < 2; ++leaf) {
          const Tensor gradient = one.of(leaves[leaf]).contiguous();
          for (std::size_t i = 0; i < mean[leaf].size(); ++i)
            mean[leaf][i] -= p * static_cast<double>(gradient.data()[i]);
        }
      }
    }
    for (std::size_t leaf = 0; leaf < 2; ++leaf) {
      const Tensor expected = exact.of(leaves[leaf]).contiguous();
      for (std::size_t i = 0; i < mean[leaf].size(); ++i)
        EXPECT_NEAR(mean[leaf][i], static_cast<double>(expected.data()[i]), 1e-5) << "leaf " << leaf << " at " << i;
    }
  }
}

TEST(Reinforce, EntropyTermAlonePushesTowardsTheUniform) {
  const Var scores = Var::leaf(Tensor(Shape{1, 1, 1, 2}, {1, 0}));
  Query query;
  query.training = true;
  AttentionOptions options;
  options.soft_mixing = 0;
  const Weighted hard = (*make_normaliser("hard", options))(scores, {}, query);
  const double p = 1 / (1 + std::exp(-1.)), q = 1 - p;
  EXPECT_NEAR(static_cast<double>(hard.entropy.value().item()), -p * std::log(p) - q * std::log(q), 1e-6);
  const Var loss = reinforce_loss(hard.log_probability, hard.entropy, Tensor(Shape{1, 1, 1}, Real{7}), 7,
                                  {.reward_weight = 1, .entropy_weight = 1});
  const Tensor gradient = backward(loss).of(scores);
  // dH/de_1 = -p q log(p/q); the loss is -H.
  EXPECT_NEAR(static_cast<double>(gradient.data()[0]), p * q * std::log(p / q), 1e-6);
  EXPECT_NEAR(static_cast<double>(gradient.data()[1]), -p * q * std::log(p / q), 1e-6);
}

TEST(Hard, SamplesFromTheDistribution) {
  constexpr Index rows = 20000;
  const Tensor scores = Tensor(Shape{3}, {.3F, -.2F, .7F}).expand(Shape{rows, 1, 1, 3}).copy();
  Query query;
  query.training = true;
  AttentionOptions options;
  options.soft_mixing = 0;
  const Weighted sampled = (*make_normaliser("hard", options))(Var(scores), {}, query);
  const Tensor expected = softmax(Var(Tensor(Shape{3}, {.3F, -.2F, .7F}))).value();
  const Tensor counts = sum(reshape(sampled.weights, Shape{rows, 3}), 0).value();
  for (Index i = 0; i < 3; ++i) {
    const double p = static_cast<double>(expected.data()[i]);
    EXPECT_NEAR(static_cast<double>(counts.data()[i]), rows * p, 4 * std::sqrt(rows * p * (1 - p))) << i;
  }
  for (Index row = 0; row < 20; ++row) {  // log_probability is that of the sampled place
    double chosen = 0;
    for (Index i = 0; i < 3; ++i)
      chosen += static_cast<double>(sampled.weights.value().at({row, 0, 0, i}) * expected.data()[i]);
    EXPECT_NEAR(static_cast<double>(sampled.log_probability.value().data()[row]), std::log(chosen), 1e-6);
  }
}

TEST(Hard, NeverSamplesWhatIsMasked) {
  const Tensor scores(Shape{500, 1, 1, 3}, Real{0});
  Query query;
  query.training = true;
  AttentionOptions options;
  options.soft_mixing = 0;
  const Weighted sampled = (*make_normaliser("hard", options))(Var(scores), Mask(Shape{3}, {true, false, true}), query);
  const Tensor counts = sum(reshape(sampled.weights, Shape{500, 3}), 0).value();
  EXPECT_EQ(counts.data()[1], 0);
  EXPECT_GT(counts.data()[0], 200);
  EXPECT_EQ(counts.data()[0] + counts.data()[2], 500);
}

TEST(Hard, MixesWholeBatchesAsOftenAsAsked) {
  const Var scores(Tensor(Shape{2, 1, 1, 3}, {.3F, -.2F, .7F, 0, 1, 2}));
  AttentionOptions options;
  options.soft_mixing = 0.25;
  const auto hard = make_normaliser("hard", options);
  const Tensor soft = softmax(scores).value();
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Query query;
    query.training = true;
    query.key = RandomKey{1, 3};
    query.batch_key = RandomKey{seed, 3};
    const Weighted one = (*hard)(scores, {}, query);
    if (one.log_probability) {
      EXPECT_EQ(sum(square(one.weights)).value().item(), 2);  // both rows one-hot
    } else {
      EXPECT_TRUE(same_bits(one.weights.value(), soft));
      ++mixed;
    }
  }
  EXPECT_NEAR(mixed, 500, 80);
}

// Where a position is masked its log-probability is the lowest finite number; a gradient larger than one must not
// overflow there.
TEST(Hard, EntropyGradientIsFiniteUnderAMask) {
  const Var scores = Var::leaf(Tensor(Shape{1, 1, 1, 3}, {1, 2, 3}));
  Query query;
  query.training = true;
  const Weighted one = (*make_normaliser("hard"))(scores, Mask(Shape{3}, {true, true, false}), query);
  Gradients gradients;
  backward(one.entropy, Tensor(one.entropy.shape(), Real{100}), gradients);
  const Tensor gradient = gradients.of(scores);
  for (const Real number : gradient.values()) EXPECT_TRUE(std::isfinite(number)) << number;
  EXPECT_EQ(gradient.at({0, 0, 0, 2}), 0);
}

}  // namespace
}  // namespace heed::test
