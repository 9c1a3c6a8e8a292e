#include "heed/attention/losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"

namespace heed::test {
namespace {

double number(const Var& x) { return static_cast<double>(x.value().item()); }
double number(const Tensor& x, Index i) { return static_cast<double>(x.contiguous().data()[i]); }

// Cui et al. 2017
// ------------------------------------------------------------------------------------------------------

const Ids kWhole = {};

TEST(AttentionOverAttention, GoldenNumbers) {
  const Var document(Tensor(Shape{1, 3, 2}, {1, 0, 0, 2, 1, 1})), question(Tensor(Shape{1, 2, 2}, {1, 0, 0, 1}));
  const Tensor s = attention_over_attention(document, question, kWhole, kWhole).weights.value();
  EXPECT_NEAR(number(s, 0), .23959, 5e-6);
  EXPECT_NEAR(number(s, 1), .43575, 5e-6);
  EXPECT_NEAR(number(s, 2), .32466, 5e-6);
}

TEST(AttentionOverAttention, IsADistributionOverTrueWordsWhateverThePadding) {
  const Var document(Tensor(Shape{1, 5, 2}, {1, 0, 0, 2, 1, 1, 50, 50, 9, -70})),
      question(Tensor(Shape{1, 4, 2}, {1, 0, 0, 1, 30, -80, 8, 8}));
  const Tensor s = attention_over_attention(document, question, ids({3}), ids({2})).weights.value();
  EXPECT_NEAR(number(s, 0), .23959, 5e-6);
  EXPECT_NEAR(number(s, 1), .43575, 5e-6);
  EXPECT_NEAR(number(s, 2), .32466, 5e-6);
  EXPECT_EQ(number(s, 3), 0);
  EXPECT_EQ(number(s, 4), 0);
  EXPECT_NEAR(number(sum(Var(s))), 1, 1e-6);
}

TEST(AttentionOverAttention, OneQuestionWordIsTheAttentionSumReader) {
  const Var document(random_tensor(Shape{2, 4, 3}, 1)), question(random_tensor(Shape{2, 1, 3}, 2));
  const Tensor s = attention_over_attention(document, question, kWhole, kWhole).weights.value();
  const Tensor expected = softmax(reshape(sum(document * question, -1), Shape{2, 4})).value();
  EXPECT_LE(distance(s, expected), 1e-6);
}

TEST(AttentionOverAttention, AsksRepeatedWordsOnce) {
  const Var document(random_tensor(Shape{1, 4, 3}, 1)), word(random_tensor(Shape{1, 1, 3}, 2));
  const Var thrice = concat({word, word, word}, 1);
  EXPECT_LE(distance(attention_over_attention(document, word, kWhole, kWhole).weights.value(),
                     attention_over_attention(document, thrice, kWhole, kWhole).weights.value()),
            1e-6);
}

TEST(AttentionOverAttention, SumsOverTheOccurrencesOfAWord) {
  const Tensor p =
      sum_by_word(Var(Tensor(Shape{2, 3}, {.2F, .5F, .3F, .25F, .25F, .5F})), Ids(Shape{2, 3}, {4, 1, 4, 0, 1, 2}), 5)
          .value();
  EXPECT_LE(distance(p, Tensor(Shape{2, 5}, {0, .5F, 0, 0, .5F, .25F, .25F, .5F, 0, 0})), 1e-7);
}

// Lin et al. 2017
// ------------------------------------------------------------------------------------------------------

TEST(RowPenalty, IsZeroForDistinctOneHots) {
  EXPECT_EQ(number(row_penalty(Var(Tensor(Shape{1, 2, 3}, {0, 1, 0, 1, 0, 0})))), 0);
}

TEST(RowPenalty, OfIdenticalOneHotsIsRSquaredLessR) {
  for (const Index r : {1, 2, 5}) {
    Tensor a(Shape{1, r, 3}, Real{0});
    for (Index i = 0; i < r; ++i) a.data()[i * 3 + 1] = 1;
    EXPECT_EQ(number(row_penalty(Var(a))), static_cast<double>(r * r - r));
  }
}

TEST(RowPenalty, IsTheSquaredNormSummedOverTheBatch) {
  // A Aᵀ = [[.5, .5], [.5, 1]]: (−½)² + 2 · ½² = ¾.
  const Tensor one(Shape{1, 2, 2}, {.5F, .5F, 1, 0});
  EXPECT_NEAR(number(row_penalty(Var(one))), .75, 1e-6);
  EXPECT_NEAR(number(row_penalty(concat({Var(one), Var(one)}, 0))), 1.5, 1e-6);
}

// Xu et al. 2015
// -------------------------------------------------------------------------------------------------------

TEST(DoublyStochastic, IsZeroOnlyIfEveryPlaceIsLookedAtOnce) {
  EXPECT_NEAR(number(doubly_stochastic_penalty(Var(Tensor(Shape{1, 2, 2}, {.25F, .75F, .75F, .25F})))), 0, 1e-12);
  // One place twice, the other never: 1 + 1.
  EXPECT_NEAR(number(doubly_stochastic_penalty(Var(Tensor(Shape{1, 2, 2}, {1, 0, 1, 0})))), 2, 1e-6);
  // A place beyond the length is not missed.
  EXPECT_NEAR(number(doubly_stochastic_penalty(Var(Tensor(Shape{1, 1, 2}, {1, 0})), Mask(Shape{1, 2}, {true, false}))),
              0, 1e-12);
}

TEST(LookEntropy, IsThatOfEveryRow) {
  const Tensor rows = look_entropy(Var(Tensor(Shape{1, 3, 4}, {.25F, .25F, .25F, .25F, 1, 0, 0, 0, .5F, .5F, 0, 0})))
                          .value()
                          .contiguous();
  EXPECT_NEAR(number(rows, 0), std::log(4.0), 1e-6);
  EXPECT_NEAR(number(rows, 1), 0, 1e-6);
  EXPECT_NEAR(number(rows, 2), std::log(2.0), 1e-6);
}

// See, Liu, Manning 2017
// -------------------------------------------------------------------------------------------------

TEST(CoverageLoss, IsWhatIsLookedAtAgain) {
  const Tensor loss = coverage_loss(Var(Tensor(Shape{2, 3}, {.5F, .3F, .2F, 1, 0, 0})),
                                    Var(Tensor(Shape{2, 3}, {.1F, .4F, 0, 3, 2, 1})))
                          .value();
  EXPECT_NEAR(number(loss, 0), .1 + .3, 1e-6);
  EXPECT_NEAR(number(loss, 1), 1, 1e-6);  // never more than one a step
}

TEST(CoverageLoss, OfTheFirstStepIsZero) {
  const Tensor weights = softmax(Var(random_tensor(Shape{2, 4}, 1))).value();
  EXPECT_NEAR(number(sum(coverage_loss(Var(weights), Var(Tensor(Shape{2, 4}, Real{0}))))), 0, 1e-7);
}

struct Pointer {
  Var vocabulary = softmax(Var(random_tensor(Shape{2, 4}, 1))), weights = softmax(Var(random_tensor(Shape{2, 3}, 2)));
  Ids source = Ids(Shape{2, 3}, {1, 5, 1, 4, 4, 0});  // 4 and 5 are beyond the vocabulary
  Tensor with(Real a, Real b) const {
    return pointer_distribution(Var(Tensor(Shape{2, 1}, {a, b})), vocabulary, weights, source, 6).value();
  }
};

TEST(Pointer, IsADistributionOverTheExtendedVocabulary) {
  const Tensor p = Pointer().with(.3F, .8F);
  EXPECT_EQ(p.shape(), (Shape{2, 6}));
  const Tensor total = sum(Var(p), -1).value();
  EXPECT_NEAR(number(total, 0), 1, 1e-6);
  EXPECT_NEAR(number(total, 1), 1, 1e-6);
}

TEST(Pointer, GeneratesOrCopies) {
  const Pointer pointer;
  const Tensor p = pointer.with(1, 0);
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(number(p, i), number(pointer.vocabulary.value(), i), 1e-7);
  EXPECT_EQ(number(p, 4) + number(p, 5), 0);
  const auto w = [&](Index j) { return number(pointer.weights.value(), 3 + j); };
  const std::vector<double> copied = {w(2), 0, 0, 0, w(0) + w(1), 0};
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(number(p, 6 + i), copied[static_cast<std::size_t>(i)], 1e-7);
}

TEST(Pointer, RefusesWhatDoesNotFit) {
  const Pointer pointer;
  const Var half(Tensor(Shape{2, 1}, Real{.5F}));
  EXPECT_THROW(pointer_distribution(half, pointer.vocabulary, pointer.weights, pointer.source, 5),
               Error);  // an id of 5
  EXPECT_THROW(pointer_distribution(half, pointer.vocabulary, pointer.weights, pointer.source, 3), Error);
  EXPECT_THROW(pointer_distribution(half, pointer.vocabulary, pointer.weights, Ids(Shape{2, 2}, 0), 6), Error);
}

// Chen et al. 2016
// -------------------------------------------------------------------------------------------------------

TEST(GuidedAlignment, IsSmallestWhereItIsRight) {
  const Tensor gold(Shape{1, 1, 3}, {1, 3, 0});  // of which rows are normalised: ¼, ¾
  const Var right(Tensor(Shape{1, 1, 3}, {.25F, .75F, 0}));
  const double floor = -.25 * std::log(.25) - .75 * std::log(.75);
  EXPECT_NEAR(number(guided_alignment_loss(right, gold)), floor, 1e-6);
  for (std::uint64_t seed = 1; seed < 20; ++seed)
    EXPECT_GT(number(guided_alignment_loss(softmax(Var(random_tensor(Shape{1, 1, 3}, seed))), gold)), floor);
  // At the minimum the gradient with respect to the scores is zero.
  const Var scores = Var::leaf(Tensor(Shape{1, 1, 3}, {std::log(.25F), std::log(.75F), -30}));
  const Tensor gradient = backward(guided_alignment_loss(softmax(scores), gold)).of(scores);
  for (const Real g : gradient.values()) EXPECT_NEAR(g, 0, 1e-6);
}

TEST(GuidedAlignment, LeavesOutRowsWithoutGold) {
  const Var weights(Tensor(Shape{1, 2, 2}, {.5F, .5F, .1F, .9F}));
  EXPECT_NEAR(number(guided_alignment_loss(weights, Tensor(Shape{1, 2, 2}, {1, 0, 0, 0}))), std::log(2.), 1e-6);
  EXPECT_EQ(number(guided_alignment_loss(weights, Tensor(Shape{1, 2, 2}, Real{0}))), 0);
  // A weight of zero where gold is one is very wrong, not infinitely.
  EXPECT_TRUE(std::isfinite(
      number(guided_alignment_loss(Var(Tensor(Shape{1, 1, 2}, {0, 1})), Tensor(Shape{1, 1, 2}, {1, 0})))));
}

}  // namespace
}  // namespace heed::test
