#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/sparse_weights.h"

namespace heed::test {
namespace {

Tensor row(std::initializer_list<Real> values) { return Tensor(Shape{static_cast<Index>(values.size())}, values); }

void expect_near(const Tensor& actual, std::initializer_list<double> expected, double tolerance) {
  ASSERT_EQ(actual.size(), static_cast<Index>(expected.size()));
  Index i = 0;
  for (const double value : expected) {
    EXPECT_NEAR(static_cast<double>(actual.data()[i]), value, tolerance) << "at " << i;
    ++i;
  }
}

Tensor shifted(const Tensor& x, Real by) {
  Tensor y = x.copy();
  for (Real& value : y.values()) value += by;
  return y;
}

const Tensor kScores = row({-2, 0, 0.5});

TEST(Normalisers, SoftmaxSparsemaxAndEntmaxGoldenNumbers) {
  expect_near(normalised(*make_normaliser("softmax"), kScores), {.04861, .35919, .59220}, 5e-6);
  expect_near(normalised(*make_normaliser("sparsemax"), kScores), {0, .25, .75}, 1e-7);
  expect_near(normalised(*make_normaliser("entmax"), kScores), {0, .32601, .67399}, 5e-6);
}

TEST(Normalisers, SparseOnesAreExactlyZeroOutsideTheirSupport) {
  EXPECT_EQ(normalised(*make_normaliser("sparsemax"), kScores).data()[0], 0);
  EXPECT_EQ(normalised(*make_normaliser("entmax"), kScores).data()[0], 0);
}

// What a constant added to all scores must not change; smoothing alone knows the size of a score.
TEST(Normalisers, OnlySmoothedSeesAShift) {
  for (const auto& entry : RegisterNormaliser::entries()) {
    if (entry.name == "monotonic") continue;  // each position decides for itself
    SCOPED_TRACE(entry.name);
    const auto normaliser = make_normaliser(entry.name);
    const double change = distance(normalised(*normaliser, kScores), normalised(*normaliser, shifted(kScores, 3)));
    if (entry.name == "smoothed") {
      EXPECT_GT(change, 0.05);
    } else {
      EXPECT_LE(change, 1e-6);
    }
  }
}

TEST(Normalisers, SparseOnesStandLargeScores) {
  const Tensor large = row({3e8F, 3e8F, 3e8F, 1e8F});
  for (const char* name : {"sparsemax", "entmax"}) {
    SCOPED_TRACE(name);
    expect_near(normalised(*make_normaliser(name), large), {1. / 3, 1. / 3, 1. / 3, 0}, 1e-6);
  }
}

TEST(Normalisers, UniformScoresGiveUniformWeights) {
  for (const auto& entry : RegisterNormaliser::entries()) {
    if (entry.name == "hard" || entry.name == "monotonic") continue;
    SCOPED_TRACE(entry.name);
    expect_near(normalised(*make_normaliser(entry.name), row({.3F, .3F, .3F, .3F})), {.25, .25, .25, .25}, 1e-6);
  }
}

TEST(Normalisers, SmoothedIsSigmoidsOverTheirSum) {
  const double a = 1 / (1 + std::exp(2.)), b = 0.5, c = 1 / (1 + std::exp(-.5)), total = a + b + c;
  expect_near(normalised(*make_normaliser("smoothed"), kScores), {a / total, b / total, c / total}, 1e-6);
}

// Where every sigmoid underflows, their proportions stay: there they are those of e^x.
TEST(Normalisers, SmoothedStandsScoresOfAnySize) {
  const auto smoothed = make_normaliser("smoothed");
  const double total = 1 + std::exp(1.);
  expect_near(normalised(*smoothed, row({-1e4F, -9.999e3F})), {1 / total, std::exp(1.) / total}, 1e-3);
  expect_near(normalised(*smoothed, row({-200, -200, -300})), {.5, .5, 0}, 1e-6);
  expect_near(normalised(*smoothed, row({1e4F, 3e4F, -1e30F})), {.5, .5, 0}, 1e-6);
}

TEST(Normalisers, ANaNShowsInItsRow) {
  AttentionOptions options;
  options.top_k = 2;
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const char* name : {"softmax", "sharpened", "smoothed", "sparsemax", "entmax"}) {
    SCOPED_TRACE(name);
    const auto normaliser = make_normaliser(name, options);
    std::vector<Real> scores(40);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = i % 3 == 1 ? nan : static_cast<Real>(i % 7);
    const Index m = static_cast<Index>(scores.size());
    const Tensor weights = normalised(*normaliser, Tensor(Shape{m}, std::span<const Real>(scores)));
    bool shows = false;
    for (const Real weight : weights.values()) shows |= std::isnan(weight);
    EXPECT_TRUE(shows);
    Mask visible(Shape{1, 1, 1, m});  // what is hidden does not matter
    for (Index i = 0; i < m; ++i) visible.data()[i] = i % 3 != 1;
    const Tensor hidden = normalised(*normaliser, Tensor(Shape{m}, std::span<const Real>(scores)), visible);
    double sum = 0;
    for (const Real weight : hidden.values()) sum += static_cast<double>(weight);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Normalisers, SharpenedGoesFromSoftmaxToTheLargest) {
  AttentionOptions options;
  const Tensor soft = normalised(*make_normaliser("softmax"), kScores);
  EXPECT_LE(distance(normalised(*make_normaliser("sharpened", options), kScores), soft), 1e-7);
  options.temperature = 0.01;
  expect_near(normalised(*make_normaliser("sharpened", options), kScores), {0, 0, 1}, 1e-6);
  options.temperature = 0.5;  // β = 2
  const double a = std::exp(-4.), b = 1, c = std::exp(1.), total = a + b + c;
  expect_near(normalised(*make_normaliser("sharpened", options), kScores), {a / total, b / total, c / total}, 1e-6);
}

TEST(Normalisers, TheTemperatureDividesTheScores) {
  AttentionOptions options;
  options.temperature = 0.5;
  const Tensor doubled = row({-4, 0, 1});
  for (const char* name : {"sparsemax", "entmax"}) {
    SCOPED_TRACE(name);
    EXPECT_LE(
        distance(normalised(*make_normaliser(name, options), kScores), normalised(*make_normaliser(name), doubled)),
        1e-7);
  }
}

TEST(Normalisers, SharpenedKeepsTheLargestK) {
  AttentionOptions options;
  for (const Index all : {3, 7}) {
    options.top_k = all;
    EXPECT_TRUE(same_bits(normalised(*make_normaliser("sharpened", options), kScores),
                          normalised(*make_normaliser("softmax"), kScores)));
  }
  options.top_k = 2;
  const double b = 1, c = std::exp(.5);
  expect_near(normalised(*make_normaliser("sharpened", options), kScores), {0, b / (b + c), c / (b + c)}, 1e-6);
  options.top_k = 1;  // of equal ones the first
  expect_near(normalised(*make_normaliser("sharpened", options), row({1, 1, 0})), {1, 0, 0}, 0);
  // Of the visible ones.
  expect_near(normalised(*make_normaliser("sharpened", options), kScores, Mask(Shape{3}, {true, true, false})),
              {0, 1, 0}, 0);
}

TEST(Normalisers, HardTakesTheLargestOutsideTraining) {
  expect_near(normalised(*make_normaliser("hard"), kScores), {0, 0, 1}, 0);
  expect_near(normalised(*make_normaliser("hard"), kScores, Mask(Shape{3}, {true, true, false})), {0, 1, 0}, 0);
}

// What it is sampled from.
TEST(Normalisers, HardIsExpectedToBeSharpened) {
  AttentionOptions options;
  options.expected = true;
  for (const double temperature : {1.0, 0.5}) {
    options.temperature = temperature;
    EXPECT_LE(distance(normalised(*make_normaliser("hard", options), kScores),
                       normalised(*make_normaliser("sharpened", options), kScores)),
              1e-7);
  }
}

// One-hot scores: a choice of one is no choice, so hard and soft agree.
TEST(Normalisers, HardEqualsSoftWhenOnePositionHasAll) {
  const Tensor sure = row({-200, 200, -200});
  EXPECT_TRUE(same_bits(normalised(*make_normaliser("hard"), sure), normalised(*make_normaliser("softmax"), sure)));
}

TEST(Normalisers, NothingVisibleGivesZeros) {
  for (const auto& entry : RegisterNormaliser::entries()) {
    SCOPED_TRACE(entry.name);
    expect_near(normalised(*make_normaliser(entry.name), kScores, Mask(Shape{3}, false)), {0, 0, 0}, 0);
  }
}

// p = σ(0) = ½ everywhere: half stops at each place.
TEST(Normalisers, MonotonicGoldenNumbers) {
  expect_near(normalised(*make_normaliser("monotonic"), row({0, 0, 0})), {.5, .25, .125}, 0);
}

TEST(Normalisers, MonotonicWithCertainStopsIsAScan) {
  const Tensor stops = row({0, 1, 0, 1, 1});
  const auto scan = [&](std::initializer_list<Real> previous) {
    return monotonic_weights(Var(stops), Var(row(previous))).value();
  };
  expect_near(scan({1, 0, 0, 0, 0}), {0, 1, 0, 0, 0}, 0);
  expect_near(scan({0, 1, 0, 0, 0}), {0, 1, 0, 0, 0}, 0);  // stays where it may stop
  expect_near(scan({0, 0, 1, 0, 0}), {0, 0, 0, 1, 0}, 0);
  expect_near(monotonic_weights(Var(row({0, 0})), Var(row({1, 0}))).value(), {0, 0}, 0);  // passes the end
}

TEST(Normalisers, MonotonicGoesOnFromTheLastStep) {
  const Var scores(Tensor(Shape{1, 1, 1, 3}, Real{0}));
  Query query;
  const auto monotonic = make_normaliser("monotonic");
  Past past;
  past.weights = (*monotonic)(scores, {}, query).weights;
  query.past = &past;
  // q = (.5, .25 + .25, .25 + .125), halved.
  expect_near((*monotonic)(scores, {}, query).weights.value().reshape(Shape{3}), {.25, .25, .1875}, 1e-7);
}

}  // namespace
}  // namespace heed::test
