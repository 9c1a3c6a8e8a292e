#include "heed/nn/word_screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/kernel_testing.h"

namespace heed::test {
namespace {

constexpr Index kInputs = 37, kWords = 300;
constexpr WordScreen::Limits kAlways{.rows_before = 0, .least_weights = 0, .share = 1};

Tensor normal(const Shape& shape, std::uint64_t seed) { return Tensor(shape, normal_values(shape.size(), seed)); }

// An output layer: words of very unequal size, one that is nothing and two that are the same.
struct Output {
  Tensor table, matrix;  // [words, in], [in, words]
  Var bias;

  explicit Output(std::uint64_t seed) : table(normal(Shape{kWords, kInputs}, seed)), matrix(Shape{kInputs, kWords}) {
    for (Index k = 0; k < kInputs; ++k) {
      table.data()[3 * kInputs + k] *= 40;
      table.data()[5 * kInputs + k] = 0;
      table.data()[7 * kInputs + k] = table.data()[6 * kInputs + k];
    }
    for (Index j = 0; j < kWords; ++j)
      for (Index k = 0; k < kInputs; ++k) matrix.data()[k * kWords + j] = table.data()[j * kInputs + k];
    bias = Var(normal(Shape{kWords}, seed + 1));
  }
  Var weight(bool flip) const { return Var(flip ? table : matrix); }
};

std::vector<std::int32_t> likeliest_of_each(const Tensor& scores) {
  std::vector<std::int32_t> result;
  for (Index row = 0; row < scores.size(0); ++row) {
    const Real* const from = scores.data() + row * scores.size(1);
    result.push_back(static_cast<std::int32_t>(std::max_element(from, from + scores.size(1)) - from));
  }
  return result;
}

TEST(WordScreen, TheLikeliestWordOfEveryRowIsLeft) {
  for (std::uint64_t seed = 1; seed < 20; ++seed)
    for (const bool flip : {false, true})
      for (const bool biased : {false, true}) {
        const Output output(seed);
        const Var weight = output.weight(flip), bias = biased ? output.bias : Var();
        WordScreen screen(kAlways);
        for (const Index rows : {1, 4, 9}) {
          Tensor x = normal(Shape{rows, kInputs}, 100 + seed);
          std::fill_n(x.data(), rows > 4 ? kInputs : 0, Real{0});  // a row of nothing
          const Ids words = screen.possible(x, weight, bias, {.b = flip});
          ASSERT_TRUE(words);
          const std::vector<std::int32_t> left(words.data(), words.data() + words.size());
          EXPECT_TRUE(std::is_sorted(left.begin(), left.end()));
          const Tensor scores = linear(Var(x), weight, bias, Activation::identity, {.b = flip}).value().contiguous();
          for (const std::int32_t word : likeliest_of_each(scores))
            EXPECT_TRUE(std::binary_search(left.begin(), left.end(), word)) << word;
          EXPECT_LT(left.size(), rows == 1 ? 60U : 301U);  // of 300
        }
      }
}

TEST(WordScreen, SaysNothingWhereALookAtAllWordsIsBetter) {
  const Output output(1);
  const Tensor x = normal(Shape{4, kInputs}, 2);
  const Var weight = output.weight(true);
  const auto asked = [&](WordScreen& screen, const Tensor& rows, const Var& by) {
    return static_cast<bool>(screen.possible(rows, by, output.bias, {.b = true}));
  };
  WordScreen later({.rows_before = 6, .least_weights = 0, .share = 1});
  EXPECT_FALSE(asked(later, x, weight));
  EXPECT_FALSE(asked(later, x, weight));
  EXPECT_TRUE(asked(later, x, weight));
  EXPECT_FALSE(asked(later, x, Var(output.table.copy())));  // other weights than those it knows

  WordScreen large({.rows_before = 0, .least_weights = kInputs * kWords + 1, .share = 1});
  EXPECT_FALSE(asked(large, x, weight));

  WordScreen strict({.rows_before = 0, .least_weights = 0, .share = kWords, .failures = 2});
  const Tensor nothing(Shape{1, kInputs}, Real{0});
  const Var alike;  // without a bias all words of a row of zeros have the same score
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(strict.possible(nothing, weight, alike, {.b = true}));

  WordScreen always(kAlways);
  Tensor bad = x.copy();
  bad.data()[kInputs + 1] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(asked(always, bad, weight));
  bad.data()[kInputs + 1] = std::numeric_limits<Real>::infinity();
  EXPECT_FALSE(asked(always, bad, weight));
  EXPECT_TRUE(asked(always, x, weight));

  WordScreen broken(kAlways);
  const Tensor with_nan = output.table.copy();
  const_cast<Real*>(with_nan.data())[9] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(asked(broken, x, Var(with_nan)));

  WordScreen rounded(kAlways);
  const auto int8 = std::make_shared<const Int8Weight>(output.table, Int8Weight::Outputs::first);
  EXPECT_FALSE(asked(rounded, x, Var::leaf(int8)));
}

}  // namespace
}  // namespace heed::test
