#include "heed/search/ensemble.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/search/search.h"
#include "search/table_decoding.h"
#include "support/messages.h"

namespace heed::test {
namespace {

std::vector<std::unique_ptr<Decoding>> decodings(std::initializer_list<const WordTables*> tables) {
  std::vector<std::unique_ptr<Decoding>> list;
  for (const WordTables* each : tables) list.push_back(std::make_unique<TableDecoding>(*each));
  return list;
}

// Tables of the same sources, whose lengths are those of `other`.
WordTables like(const WordTables& other, std::uint64_t seed) {
  WordTables tables = WordTables::random(static_cast<Index>(other.lengths.size()), other.vocabulary, seed);
  tables.lengths = other.lengths;
  tables.weights = other.weights;
  for (auto& weights : tables.weights) std::reverse(weights.begin(), weights.end());
  return tables;
}

TEST(Ensemble, AveragesProbabilitiesAndWeights) {
  const WordTables a = WordTables::random(3, 5, 1), b = like(a, 2);
  EnsembleDecoding arithmetic(decodings({&a, &b}), EnsembleMean::probabilities, {3, 1});
  EnsembleDecoding geometric(decodings({&a, &b}), EnsembleMean::log_probabilities);
  const Ids previous(Shape{3}, {1, 3, 4});
  const Decoding::Step mean = arithmetic.step(previous), product = geometric.step(previous);
  for (Index row = 0; row < 3; ++row) {
    const auto s = static_cast<std::size_t>(row);
    for (Index word = 0; word < 5; ++word) {
      const auto place = static_cast<std::size_t>(previous.data()[row] * 5 + word);
      const double p = a.probabilities[s][place], q = b.probabilities[s][place];
      EXPECT_NEAR(static_cast<double>(mean.words.at({row, word})), std::log(.75 * p + .25 * q), 2e-6);
      EXPECT_NEAR(static_cast<double>(product.words.at({row, word})), std::log(p * q) / 2, 2e-6);
    }
    for (Index j = 0; j < a.lengths[s]; ++j) {
      const auto place = static_cast<std::size_t>(previous.data()[row] * a.lengths[s] + j);
      EXPECT_NEAR(static_cast<double>(mean.weights.at({row, j})), .75 * a.weights[s][place] + .25 * b.weights[s][place],
                  1e-6);
    }
  }
}

TEST(Ensemble, KeepsSmallAndImpossibleProbabilities) {
  WordTables a = WordTables::random(1, 4, 1), b = like(a, 2);
  a.probabilities[0][4] = b.probabilities[0][4] = 0;  // after begin, word 0
  a.probabilities[0][5] = 1e-200, b.probabilities[0][5] = 3e-200;
  EnsembleDecoding ensemble(decodings({&a, &b}));
  const Tensor next = ensemble.step(Ids(Shape{1}, 1)).words;
  EXPECT_EQ(next.data()[0], -std::numeric_limits<Real>::infinity());
  EXPECT_NEAR(static_cast<double>(next.data()[1]), std::log(2e-200), 1e-4);
}

TEST(Ensemble, OfOneModelTwiceIsThatModel) {
  const WordTables a = WordTables::random(4, 6, 3);
  EnsembleDecoding ensemble(decodings({&a, &a}), EnsembleMean::log_probabilities);
  TableDecoding alone(a);
  const Hypotheses twice = beam_search(ensemble, a.length_ids(), {.beam = 3, .best = 3});
  const Hypotheses once = beam_search(alone, a.length_ids(), {.beam = 3, .best = 3});
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(twice[s][k].words, once[s][k].words);
      EXPECT_NEAR(twice[s][k].log_probability, once[s][k].log_probability, 1e-5);
    }
}

TEST(Ensemble, OfModelsThatDoNotFitIsAnError) {
  const WordTables a = WordTables::random(3, 5, 1), b = WordTables::random(2, 5, 1), c = WordTables::random(3, 6, 1);
  EXPECT_EQ(message_of([] { EnsembleDecoding ensemble({}); }), "[ensemble] there is no model in it");
  EXPECT_EQ(message_of([&] {
              EnsembleDecoding ensemble(decodings({&a, &b}));
            }),
            "[ensemble] models decode 3 and 2 rows");
  EXPECT_EQ(message_of([&] {
              EnsembleDecoding ensemble(decodings({&a}), EnsembleMean::probabilities, {1, 2});
            }),
            "[ensemble] 2 shares for 1 models");
  EnsembleDecoding vocabularies(decodings({&a, &c}));
  EXPECT_NE(message_of([&] { vocabularies.step(Ids(Shape{3}, 1)); }).find("do not fit together"), std::string::npos);
}

}  // namespace
}  // namespace heed::test
