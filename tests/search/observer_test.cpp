#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/search/search.h"
#include "search/table_decoding.h"

namespace heed::test {
namespace {

// All that an observer was shown, by source and step, with weights of its own.
struct Watched {
  struct Alive : SearchStep::Alive {
    std::vector<Real> looked;
  };
  std::vector<std::vector<std::vector<Alive>>> sources;

  explicit Watched(const WordTables& tables) : sources(tables.lengths.size()) {}
  SearchObserver observer() {
    return [this](const SearchStep& step) {
      auto& steps = sources[static_cast<std::size_t>(step.source)];
      EXPECT_EQ(static_cast<Index>(steps.size()), step.step);  // in order, none left out
      steps.emplace_back();
      for (const SearchStep::Alive& alive : step.hypotheses)
        steps.back().push_back({alive, {alive.weights.begin(), alive.weights.end()}});
    };
  }
  // The words of one hypothesis of a step, the last included, found by going back.
  std::vector<std::int32_t> words(std::size_t source, std::size_t step, std::size_t place) const {
    std::vector<std::int32_t> found;
    for (std::size_t t = step + 1; t-- > 0;) {
      const Alive& alive = sources[source][t].at(place);
      found.push_back(alive.word);
      place = static_cast<std::size_t>(alive.from);
    }
    std::reverse(found.begin(), found.end());
    return found;
  }
};

TEST(SearchObserver, SeesEveryHypothesisOfABeamSearchWithItsParent) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const WordTables tables = WordTables::random(4, 6, seed);
    Watched watched(tables);
    SearchOptions options{.beam = 3, .length_penalty = 0.8, .coverage_penalty = seed % 2 ? 0.3 : 0.0};
    TableDecoding unwatched_decoding(tables), decoding(tables);
    const Hypotheses unwatched = beam_search(unwatched_decoding, tables.length_ids(), options);
    options.observer = watched.observer();
    const Hypotheses found = beam_search(decoding, tables.length_ids(), options);
    for (std::size_t s = 0; s < 4; ++s) {
      const Hypothesis& best = found[s].at(0);
      EXPECT_EQ(best.words, unwatched[s].at(0).words);
      EXPECT_EQ(best.score, unwatched[s].at(0).score);
      bool seen = false;
      for (std::size_t t = 0; t < watched.sources[s].size(); ++t) {
        const auto& alive = watched.sources[s][t];
        EXPECT_LE(alive.size(), 3U);
        for (std::size_t place = 0; place < alive.size(); ++place) {
          std::vector<std::int32_t> words = watched.words(s, t, place);
          EXPECT_EQ(alive[place].ended, words.back() == options.end);
          if (!alive[place].ended) continue;
          words.pop_back();
          EXPECT_NEAR(alive[place].log_probability, tables.log_probability(static_cast<Index>(s), words), 1e-5);
          if (words == best.words) {
            seen = true;
            EXPECT_EQ(alive[place].score, best.score);
            EXPECT_EQ(alive[place].log_probability, best.log_probability);
          } else {
            EXPECT_LE(alive[place].score, best.score);
          }
        }
      }
      EXPECT_TRUE(seen);
    }
  }
}

TEST(SearchObserver, SeesGreedySearchWordByWordWithItsWeights) {
  const WordTables tables = WordTables::random(5, 7, 3);
  Watched watched(tables);
  TableDecoding decoding(tables);
  const Hypotheses found = greedy_search(decoding, tables.length_ids(), {.observer = watched.observer()});
  for (std::size_t s = 0; s < 5; ++s) {
    const Hypothesis& best = found[s].at(0);
    ASSERT_EQ(watched.sources[s].size(), best.words.size() + 1);
    for (std::size_t t = 0; t <= best.words.size(); ++t) {
      ASSERT_EQ(watched.sources[s][t].size(), 1U);
      const Watched::Alive& alive = watched.sources[s][t][0];
      EXPECT_EQ(alive.word, t < best.words.size() ? best.words[t] : 2);
      EXPECT_EQ(alive.from, 0);
      const Index m = best.weights.size(1);
      const Real* row = best.weights.data() + static_cast<Index>(t) * m;
      EXPECT_TRUE(std::equal(alive.looked.begin(), alive.looked.end(), row, row + m));
    }
    EXPECT_EQ(watched.sources[s].back()[0].score, best.score);
  }
}

TEST(SearchObserver, SeesEachOfSeveralSamplesGoOnWhereItWas) {
  const WordTables tables = WordTables::random(3, 6, 5);
  Watched watched(tables);
  TableDecoding decoding(tables, false);
  const Hypotheses found =
      sample_search(decoding, tables.length_ids(), {.best = 4, .seed = 9, .observer = watched.observer()});
  for (std::size_t s = 0; s < 3; ++s) {
    std::vector<std::vector<std::int32_t>> ended, expected;
    for (std::size_t t = 0; t < watched.sources[s].size(); ++t)
      for (std::size_t place = 0; place < watched.sources[s][t].size(); ++place)
        if (watched.sources[s][t][place].ended) {
          EXPECT_TRUE(watched.sources[s][t][place].looked.empty());
          ended.push_back(watched.words(s, t, place));
          ended.back().pop_back();
        }
    for (const Hypothesis& hypothesis : found[s]) expected.push_back(hypothesis.words);
    std::sort(ended.begin(), ended.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(ended, expected);
  }
}

TEST(SearchObserver, WhatItThrowsEndsTheSearch) {
  const WordTables tables = WordTables::random(2, 5, 2);
  TableDecoding decoding(tables);
  const SearchOptions options{.observer = [](const SearchStep&) { throw Error("enough"); }};
  EXPECT_THROW(beam_search(decoding, tables.length_ids(), options), Error);
}

TEST(Search, LogProbabilitiesOfTheWordsAreTheModels) {
  const WordTables tables = WordTables::random(4, 6, 8);
  TableDecoding beam_decoding(tables), greedy_decoding(tables);
  for (const Hypotheses& found : {beam_search(beam_decoding, tables.length_ids(), {.beam = 3, .best = 3}),
                                  greedy_search(greedy_decoding, tables.length_ids(), {})})
    for (std::size_t s = 0; s < 4; ++s)
      for (const Hypothesis& hypothesis : found[s]) {
        ASSERT_EQ(hypothesis.log_probabilities.size(), hypothesis.words.size() + 1);
        std::int32_t previous = 1;
        for (std::size_t t = 0; t < hypothesis.log_probabilities.size(); ++t) {
          const std::int32_t word = t < hypothesis.words.size() ? hypothesis.words[t] : 2;
          EXPECT_NEAR(hypothesis.log_probabilities[t],
                      static_cast<double>(tables.log_probability(static_cast<Index>(s), previous, word)), 1e-6);
          previous = word;
        }
        EXPECT_NEAR(std::accumulate(hypothesis.log_probabilities.begin(), hypothesis.log_probabilities.end(), 0.0),
                    hypothesis.log_probability, 1e-12);
      }
}

}  // namespace
}  // namespace heed::test
