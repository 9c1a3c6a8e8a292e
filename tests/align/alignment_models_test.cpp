#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "heed/align/diagonal_model.h"
#include "heed/align/digamma.h"
#include "heed/align/jump_model.h"
#include "heed/align/lexical_table.h"
#include "heed/base/random.h"

// The models of alignments against their equations: sums over all alignments of small sentences.

namespace heed {
namespace {

using Alignment = std::vector<std::size_t>;  // of each written word the given word, from 1; 0 is the empty word

// Every alignment of `written` words with `given` ones.
void each_alignment(std::size_t given, std::size_t written, const std::function<void(const Alignment&)>& use) {
  Alignment alignment(written, 0);
  while (true) {
    use(alignment);
    std::size_t j = 0;
    for (; j < written && alignment[j] == given; ++j) alignment[j] = 0;
    if (j == written) return;
    ++alignment[j];
  }
}

// p(f_j | e_i) [written, 1 + given], drawn.
std::vector<float> random_matrix(std::size_t given, std::size_t written, std::uint64_t seed) {
  RandomSequence random(RandomKey{seed});
  std::vector<float> matrix((given + 1) * written);
  for (float& value : matrix) value = static_cast<float>(0.001 + 0.3 * random.uniform());
  return matrix;
}

// p(a_j = i | sentences) from p(alignment, sentences) of all alignments.
std::vector<double> enumerated(std::size_t given, std::size_t written,
                               const std::function<double(const Alignment&)>& probability) {
  std::vector<double> sums((given + 1) * written, 0.0);
  double total = 0;
  each_alignment(given, written, [&](const Alignment& alignment) {
    const double p = probability(alignment);
    total += p;
    for (std::size_t j = 0; j < written; ++j) sums[j * (given + 1) + alignment[j]] += p;
  });
  for (double& sum : sums) sum /= total;
  return sums;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 2e-6) << "at " << k;
}

struct Size {
  std::size_t given, written;
};

double distance(std::size_t i, std::size_t j, const Size& size) {
  return std::abs(static_cast<double>(i) / static_cast<double>(size.given) -
                  static_cast<double>(j) / static_cast<double>(size.written));
}

TEST(DiagonalModel, PriorIsItsEquation) {
  for (const double tension : {0.1, 4.0, 12.5})
    for (const Size size : {Size{1, 1}, Size{1, 4}, Size{5, 2}, Size{7, 7}, Size{60, 41}}) {
      const DiagonalModel model(0.1, tension);
      for (std::size_t j = 1; j <= size.written; ++j) {
        double sum = 0, weighted = 0;
        for (std::size_t i = 1; i <= size.given; ++i) {
          const double weight = std::exp(-tension * distance(i, j, size));
          sum += weight;
          weighted -= weight * distance(i, j, size);
        }
        for (std::size_t i = 1; i <= size.given; ++i)
          EXPECT_NEAR(model.probability(i, j, size.given, size.written),
                      std::exp(-tension * distance(i, j, size)) / sum, 1e-12);
        EXPECT_NEAR(model.expected_h(j, size.given, size.written), weighted / sum, 1e-9);
      }
    }
}

TEST(DiagonalModel, PosteriorsAreThoseOfAllAlignments) {
  for (const Size size : {Size{1, 1}, Size{3, 3}, Size{2, 5}, Size{5, 2}}) {
    const DiagonalModel model(0.15, 3.5);
    std::vector<float> matrix = random_matrix(size.given, size.written, 11);
    const std::vector<float> lexical = matrix;
    double distances = 0, linked = 0;
    const std::vector<double> expected = enumerated(size.given, size.written, [&](const Alignment& alignment) {
      double p = 1;
      for (std::size_t j = 0; j < size.written; ++j) {
        const std::size_t i = alignment[j];
        p *= i == 0 ? 0.15 : 0.85 * model.probability(i, j + 1, size.given, size.written);
        p *= lexical[j * (size.given + 1) + i];
      }
      return p;
    });
    for (std::size_t j = 0; j < size.written; ++j)
      for (std::size_t i = 1; i <= size.given; ++i) {
        distances += expected[j * (size.given + 1) + i] * distance(i, j + 1, size);
        linked += expected[j * (size.given + 1) + i];
      }
    DiagonalModel::Counts counts;
    model.posteriors(size.given, size.written, matrix, counts);
    expect_near(matrix, expected);
    EXPECT_NEAR(from_expected(counts.distance), distances, 1e-5);
    EXPECT_NEAR(from_expected(counts.linked), linked, 1e-5);
  }
}

// A tension is found again from what is to be expected under it.
TEST(DiagonalModel, TensionIsFitted) {
  const DiagonalModel::Sizes sizes{{{9, 12}, 5}, {{20, 17}, 3}};
  for (const double tension : {1.0, 6.0, 14.0}) {
    const DiagonalModel model(0.2, tension);
    DiagonalModel::Counts counts;
    for (const auto& [size, pairs] : sizes)
      for (std::size_t j = 1; j <= size.second; ++j) {
        counts.distance += pairs * to_expected(-model.expected_h(j, size.first, size.second));
        counts.linked += pairs * to_expected(1);
      }
    DiagonalModel other(0.2);
    other.maximise(counts, sizes);
    EXPECT_NEAR(other.tension(), tension, 0.01);
  }
}

// Also of sentences with jumps beyond the farthest that has a probability of its own.
TEST(JumpModel, PosteriorsAndJumpsAreThoseOfAllAlignments) {
  for (const Size size : {Size{1, 1}, Size{1, 5}, Size{3, 4}, Size{5, 3}, Size{30, 2}}) {
    JumpModel model(0.2, 40);
    JumpModel::Counts uneven;
    for (std::size_t k = 0; k < JumpModel::kClasses; ++k) uneven.jumps[k] = to_expected(1 + (k * 7 % 11));
    model.maximise(uneven);
    std::vector<float> matrix = random_matrix(size.given, size.written, 5);
    const std::vector<float> lexical = matrix;
    const auto position = [](std::size_t place) { return static_cast<std::ptrdiff_t>(place); };
    const auto probability = [&](const Alignment& alignment, const std::function<void(std::ptrdiff_t)>& jumped) {
      double p = 1;
      std::size_t at = 0;
      for (std::size_t j = 0; j < size.written; ++j) {
        const std::size_t i = alignment[j];
        p *= lexical[j * (size.given + 1) + i];
        if (i == 0) {
          p *= 0.2;
          continue;
        }
        double reached = 0;
        for (std::size_t k = 1; k <= size.given; ++k) reached += model.weight(position(k) - position(at));
        p *= 0.8 * model.weight(position(i) - position(at)) / reached;
        jumped(position(i) - position(at));
        at = i;
      }
      return p;
    };
    const std::vector<double> expected = enumerated(size.given, size.written, [&](const Alignment& alignment) {
      return probability(alignment, [](std::ptrdiff_t) {});
    });
    std::vector<double> jumps(JumpModel::kClasses, 0.0);
    double total = 0;
    each_alignment(size.given, size.written, [&](const Alignment& alignment) {
      std::vector<std::size_t> classes;
      const double p =
          probability(alignment, [&](std::ptrdiff_t jump) { classes.push_back(JumpModel::class_of(jump)); });
      total += p;
      for (const std::size_t k : classes) jumps[k] += p;
    });

    JumpModel::Sums sums(size.given, size.written);
    JumpModel::Counts counts;
    model.posteriors(size.given, size.written, matrix, sums, counts);
    expect_near(matrix, expected);
    for (std::size_t k = 0; k < JumpModel::kClasses; ++k)
      EXPECT_NEAR(from_expected(counts.jumps[k]), jumps[k] / total, 2e-6) << "class " << k;
  }
}

TEST(JumpModel, LearnsWhatIsCounted) {
  JumpModel model(0.2, 60);
  JumpModel::Counts counts;
  counts.jumps[JumpModel::class_of(1)] = to_expected(3'000'000);
  counts.jumps[JumpModel::class_of(-2)] = to_expected(1'000'000);
  model.maximise(counts);
  EXPECT_NEAR(model.weight(1), 0.75, 1e-4);
  EXPECT_NEAR(model.weight(-2), 0.25, 1e-4);
  EXPECT_GT(model.weight(45), 0);
  EXPECT_EQ(JumpModel::class_of(-500), 0U);
  EXPECT_EQ(JumpModel::class_of(500), JumpModel::kClasses - 1);
}

TEST(LexicalTable, KnowsWordsOfTheSamePairsOnly) {
  NumberedSentences given, written;
  given.add(std::vector<std::int32_t>{0, 1, 0});
  written.add(std::vector<std::int32_t>{5, 2});
  given.add(std::vector<std::int32_t>{});
  written.add(std::vector<std::int32_t>{3});
  given.add(std::vector<std::int32_t>{1});
  written.add(std::vector<std::int32_t>{2, 4});
  const LexicalTable table(given, written);
  EXPECT_EQ(table.pairs(), 6U + 2U + 3U);  // of the empty word, of 0 and of 1
  EXPECT_FLOAT_EQ(table.probability(0, 5), 1.0F / 2);
  EXPECT_FLOAT_EQ(table.probability(1, 4), 1.0F / 3);
  EXPECT_FLOAT_EQ(table.probability(-1, 3), 1.0F / 6);
  EXPECT_EQ(table.probability(0, 4), LexicalTable::kLeast);
  EXPECT_EQ(table.probability(77, 2), LexicalTable::kLeast);
  EXPECT_EQ(table.probability(1, 77), LexicalTable::kLeast);
}

TEST(LexicalTable, LearnsFromCounts) {
  NumberedSentences given, written;
  given.add(std::vector<std::int32_t>{0, 1});
  written.add(std::vector<std::int32_t>{0, 1, 2});
  const std::size_t size = 3 * 3;
  for (const double prior : {0.0, 0.01}) {
    LexicalTable table(given, written);
    std::vector<std::uint64_t> cells(size);
    std::vector<float> probabilities(size);
    table.find(given[0], written[0], cells, probabilities);
    for (const float p : probabilities) EXPECT_FLOAT_EQ(p, 1.0F / 3);
    const std::vector<float> shares{0.5F, 0.25F, 0.25F, 0, 1, 0, 0.125F, 0.75F, 0.125F};
    table.count(cells, shares);
    table.count(cells, shares);
    EXPECT_DOUBLE_EQ(table.counted(-1, 0), 1.0);
    EXPECT_DOUBLE_EQ(table.counted(0, 1), 2.0);
    EXPECT_DOUBLE_EQ(table.counted(1, 2), 0.25);
    table.maximise(prior);
    const auto expected = [prior](double count, double sum) {
      return prior > 0 ? std::exp(digamma(count + prior)) / std::exp(digamma(sum + 3 * prior)) : count / sum;
    };
    EXPECT_NEAR(table.probability(0, 0), expected(0.5, 4), 1e-7);
    EXPECT_NEAR(table.probability(0, 1), expected(2, 4), 1e-7);
    EXPECT_NEAR(table.probability(1, 2), expected(0.25, 0.75), 1e-7);
    EXPECT_EQ(table.probability(1, 1), LexicalTable::kLeast);  // never counted
    EXPECT_EQ(table.counted(0, 1), 0);
  }
}

// ψ(1) is -γ, ψ(1/2) is -γ - 2 log 2; the others are mpmath's.
TEST(Digamma, HasItsKnownValues) {
  constexpr double kEuler = 0.57721566490153286;
  EXPECT_NEAR(digamma(1), -kEuler, 1e-10);
  EXPECT_NEAR(digamma(0.5), -kEuler - 2 * std::log(2), 1e-10);
  EXPECT_NEAR(digamma(0.01), -100.56088545786867, 1e-8);
  EXPECT_NEAR(digamma(1000), 6.9072551956488121, 1e-12);
}

}  // namespace
}  // namespace heed
