#include "heed/attention/additive.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "heed/autograd/ops/elementwise.h"
#include "support/kernel_testing.h"

namespace heed {
namespace {

using namespace heed::test;

struct Case {
  Var queries, keys, v;
  Tensor seed;  // the gradient of the scores
};

Tensor filled(const Shape& shape, std::uint64_t seed) { return Tensor(shape, normal_values(shape.size(), seed)); }

Case make_case(Index batch, Index heads, Index n, Index m, Index width) {
  return {Var::leaf(filled(Shape{batch, heads, n, width}, 1)), Var::leaf(filled(Shape{batch, heads, m, width}, 2)),
          Var::leaf(filled(Shape{width}, 3)), filled(Shape{batch, heads, n, m}, 4)};
}

// `terms` is the sum of the magnitudes that a long sum is made of: where they cancel, it is their rounding that counts.
void expect_near_sums(const Tensor& got, const Tensor& want, double tolerance, double terms = 0) {
  ASSERT_EQ(got.shape(), want.shape());
  const Tensor a = got.contiguous(), b = want.contiguous();
  for (Index i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.data()[i], b.data()[i], tolerance * (1 + std::abs(b.data()[i])) + terms * 0x1p-24) << "element " << i;
}

// What the gradient of v is summed from at most: every pair of a query and a key has a share.
double magnitude(const Tensor& seed) {
  double sum = 0;
  for (const Real x : seed.values()) sum += std::abs(x);
  return sum;
}

TEST(AdditiveScores, EqualTheirDefinitionInValueAndGradient) {
  const auto check = [](Index batch, Index heads, Index n, Index m, Index width) {
    SCOPED_TRACE(testing::Message() << batch << ' ' << heads << ' ' << n << ' ' << m << ' ' << width);
    const Case c = make_case(batch, heads, n, m, width);
    const Var fused = additive_scores(c.queries, c.keys, c.v);
    const Var composed = additive_scores_composed(c.queries, c.keys, c.v);
    expect_near_sums(fused.value(), composed.value(), 1e-5);
    Gradients got, want;
    backward(fused, c.seed, got);
    backward(composed, c.seed, want);
    for (const Var& leaf : {c.queries, c.keys, c.v})
      expect_near_sums(got.of(leaf), want.of(leaf), 1e-5, magnitude(c.seed));
  };
  check(2, 1, 1, 1, 1);
  check(2, 3, 0, 4, 5);
  check(2, 3, 4, 0, 5);
  check(0, 1, 2, 3, 4);
  rc::check([&] {
    const auto size = [](Index most) { return *rc::gen::inRange<Index>(1, most + 1); };
    check(size(3), size(3), size(5), size(20), size(70));
  });
}

TEST(AdditiveScores, WithFeaturesTooAndOverManySteps) {
  const auto check = [](Index batch, Index heads, Index n, Index m, Index width, Index count) {
    SCOPED_TRACE(testing::Message() << batch << ' ' << heads << ' ' << n << ' ' << m << ' ' << width << ' ' << count);
    const Case c = make_case(batch, heads, n, m, width);
    const KeyFeatures features{Var::leaf(filled(Shape{batch, heads, m, count}, 5)),
                               Var::leaf(filled(Shape{count, width}, 6))};
    // The keys come from an op and are used three times: their gradients add up in place.
    const auto thrice = [&](const auto& scores) {
      const Var keys = tanh(c.keys);
      return scores(c.queries, keys) + scores(tanh(c.queries), keys) + scores(negate(c.queries), keys);
    };
    const Var fused = thrice([&](const Var& q, const Var& k) { return additive_scores(q, k, c.v, {}, features); });
    const Var composed =
        thrice([&](const Var& q, const Var& k) { return additive_scores_composed(q, k, c.v, features); });
    expect_near_sums(fused.value(), composed.value(), 1e-5);
    Gradients got, want;
    backward(fused, c.seed, got);
    backward(composed, c.seed, want);
    for (const Var& leaf : {c.queries, c.keys, c.v, features.values, features.map})
      expect_near_sums(got.of(leaf), want.of(leaf), 2e-5, 3 * magnitude(c.seed));
  };
  check(2, 1, 1, 1, 1, 1);
  check(2, 3, 4, 0, 5, 2);
  rc::check([&] {
    const auto size = [](Index most) { return *rc::gen::inRange<Index>(1, most + 1); };
    check(size(3), size(2), size(3), size(40), size(70), size(5));
  });
}

// A length says the same as zeroing the scores beyond it.
TEST(AdditiveScores, LengthsCutTheKeys) {
  const Index m = 5, width = 9;
  for (std::int32_t length = 0; length <= m; ++length) {
    const Case c = make_case(2, 1, 2, m, width);
    const Ids lengths(Shape{2}, {length, static_cast<std::int32_t>(m)});
    Tensor kept(c.seed.shape(), Real{1});
    for (Index i = 0; i < 2; ++i)
      for (Index j = length; j < m; ++j) kept.data()[i * m + j] = 0;
    Tensor seed = c.seed.copy(), want_value = additive_scores_composed(c.queries, c.keys, c.v).value().copy();
    for (Index i = 0; i < seed.size(); ++i) seed.data()[i] *= kept.data()[i], want_value.data()[i] *= kept.data()[i];

    const Var fused = additive_scores(c.queries, c.keys, c.v, lengths);
    expect_near_sums(fused.value(), want_value, 1e-5);
    Gradients got, want;
    backward(fused, c.seed, got);
    backward(additive_scores_composed(c.queries, c.keys, c.v), seed, want);
    for (const Var& leaf : {c.queries, c.keys, c.v}) expect_near_sums(got.of(leaf), want.of(leaf), 1e-5);
  }
}

TEST(AdditiveScores, TakeTransposedViews) {
  const Case c = make_case(1, 3, 2, 4, 5);
  const Var turned(c.keys.value().transpose(1, 2).copy().transpose(1, 2));
  ASSERT_FALSE(turned.value().contiguous_layout());
  const Tensor got = additive_scores(c.queries, turned, c.v).value(),
               want = additive_scores(c.queries, c.keys, c.v).value();
  expect_same(got.values(), want.values());
}

void expect_error(const std::function<void()>& run, const std::string& words) {
  try {
    run();
    ADD_FAILURE() << "no error: " << words;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(AdditiveScores, SayWhatDoesNotFit) {
  const Case c = make_case(2, 1, 3, 4, 5);
  const Var narrow(filled(Shape{4}, 1)), other(filled(Shape{2, 1, 4, 6}, 1)), flat(filled(Shape{2, 4, 5}, 1));
  expect_error([&] { additive_scores(c.queries, c.keys, narrow); },
               "[additive] queries [2, 1, 3, 5], keys [2, 1, 4, 5] and weights [4] do not fit");
  expect_error([&] { additive_scores(c.queries, other, c.v); }, "keys [2, 1, 4, 6]");
  expect_error([&] { additive_scores(c.queries, flat, c.v); }, "keys [2, 4, 5]");
  const KeyFeatures narrow_map{Var(Tensor(Shape{2, 1, 4, 3}, Real{1})), Var(Tensor(Shape{3, 4}, Real{1}))};
  expect_error([&] { additive_scores(c.queries, c.keys, c.v, {}, narrow_map); },
               "[additive] features [2, 1, 4, 3] and their map [3, 4] do not fit keys [2, 1, 4, 5]");
  const auto with = [&](const Ids& lengths) { additive_scores(c.queries, c.keys, c.v, lengths); };
  expect_error([&] { with(Ids(Shape{1}, {4})); }, "[additive] lengths [1] do not fit a batch of 2");
  expect_error([&] { with(Ids(Shape{2}, {4, 5})); }, "[additive] a length of 5 is outside 0..4");
  expect_error([&] { with(Ids(Shape{2}, {-1, 4})); }, "[additive] a length of -1 is outside 0..4");
}

}  // namespace
}  // namespace heed
