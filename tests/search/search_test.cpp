#include "heed/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "search/table_decoding.h"
#include "support/messages.h"

namespace heed::test {
namespace {

using Words = std::vector<std::int32_t>;

Hypotheses beam(const WordTables& tables, const SearchOptions& options) {
  TableDecoding decoding(tables);
  return beam_search(decoding, tables.length_ids(), options);
}
Hypotheses greedy(const WordTables& tables, const SearchOptions& options) {
  TableDecoding decoding(tables);
  return greedy_search(decoding, tables.length_ids(), options);
}
Hypotheses sample(const WordTables& tables, const SearchOptions& options) {
  TableDecoding decoding(tables);
  return sample_search(decoding, tables.length_ids(), options);
}

void expect_same(const Hypothesis& a, const Hypothesis& b) {
  EXPECT_EQ(a.words, b.words);
  EXPECT_EQ(a.log_probability, b.log_probability);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.finished, b.finished);
  ASSERT_EQ(a.weights.shape(), b.weights.shape());
  EXPECT_TRUE(std::ranges::equal(a.weights.values(), b.weights.values()));
}

TEST(Penalties, GoldenNumbers) {
  EXPECT_NEAR(length_penalty(20, .6), 2.354362, 5e-7);
  EXPECT_EQ(length_penalty(1, .6), 1);
  EXPECT_EQ(length_penalty(20, 0), 1);
  // Sums of the columns: 1.2, counted as 1, and .8.
  EXPECT_NEAR(coverage_penalty(Tensor(Shape{2, 2}, {Real{.7F}, Real{.3F}, Real{.5F}, Real{.5F}}), 2), 2 * std::log(.8),
              1e-6);
}

TEST(GreedySearch, TakesTheLikeliestWordAtEveryStep) {
  const WordTables tables = WordTables::random(6, 7, 11);
  const Hypotheses found = greedy(tables, {});
  for (Index s = 0; s < 6; ++s) {
    const Hypothesis& hypothesis = found[static_cast<std::size_t>(s)].at(0);
    std::int32_t previous = 1;
    Words all = hypothesis.words;
    if (hypothesis.finished) all.push_back(2);
    for (const std::int32_t word : all) {
      for (std::int32_t other = 0; other < 7; ++other)
        EXPECT_GE(tables.log_probability(s, previous, word), tables.log_probability(s, previous, other));
      previous = word;
    }
    EXPECT_NEAR(hypothesis.log_probability, tables.log_probability(s, hypothesis.words), 1e-12);
  }
}

TEST(GreedySearch, WritesTheSameWhereNobodyAsksForProbabilities) {
  const WordTables tables = WordTables::random(6, 40, 11);
  SearchOptions options;
  const Hypotheses asked = greedy(tables, options);
  options.probabilities = false;
  const Hypotheses found = greedy(tables, options);
  for (std::size_t s = 0; s < asked.size(); ++s) {
    EXPECT_EQ(found[s].at(0).words, asked[s].at(0).words);
    EXPECT_EQ(found[s].at(0).log_probability, 0);
    EXPECT_LT(asked[s].at(0).log_probability, 0);
    EXPECT_TRUE(std::ranges::equal(found[s].at(0).weights.values(), asked[s].at(0).weights.values()));
  }
}

TEST(BeamSearch, OfOneIsGreedyWhateverThePenalty) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const WordTables tables = WordTables::random(5, 6, seed);
    for (const double alpha : {0.0, .6, 2.0}) {
      const SearchOptions options{.beam = 1, .length_penalty = alpha};
      const Hypotheses a = beam(tables, options), b = greedy(tables, options);
      for (std::size_t s = 0; s < 5; ++s) {
        ASSERT_EQ(a[s].size(), 1U);
        expect_same(a[s][0], b[s].at(0));
      }
    }
  }
}

// Every hypothesis of at most `longest` words.
std::vector<Words> all_words(const std::vector<std::int32_t>& vocabulary, Index longest) {
  std::vector<Words> all = {{}};
  for (std::size_t begin = 0; longest > 0; --longest) {
    const std::size_t end = all.size();
    for (; begin < end; ++begin)
      for (const std::int32_t word : vocabulary) {
        Words longer = all[begin];
        longer.push_back(word);
        all.push_back(longer);
      }
  }
  return all;
}

TEST(BeamSearch, WideEnoughIsExhaustive) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const WordTables tables = WordTables::random(3, 3, seed);
    for (const double alpha : {0.0, .6, 1.5})
      for (const double beta : {0.0, .4}) {
        const SearchOptions options{.beam = 200,
                                    .best = 10,
                                    .length_penalty = alpha,
                                    .coverage_penalty = beta,
                                    .longest_factor = 0,
                                    .longest_extra = 6};
        const Hypotheses found = beam(tables, options);
        for (Index s = 0; s < 3; ++s) {
          std::map<Words, double> scores;
          std::vector<double> ranked;
          for (const Words& words : all_words({0, 1}, 6)) {
            const auto length = static_cast<Index>(words.size()) + 1;
            ranked.push_back(tables.log_probability(s, words) / length_penalty(length, alpha) +
                             coverage_penalty(tables.weights_along(s, words), beta));
            scores[words] = ranked.back();
          }
          std::ranges::sort(ranked, std::greater());
          const auto& best = found[static_cast<std::size_t>(s)];
          ASSERT_EQ(best.size(), 10U);
          for (std::size_t k = 0; k < 10; ++k) {
            EXPECT_NEAR(best[k].score, ranked[k], 1e-9);
            EXPECT_NEAR(best[k].score, scores.at(best[k].words), 1e-9);  // several may have the same
          }
        }
      }
  }
}

TEST(BeamSearch, GivesSortedDistinctHypothesesWithTheirLogProbabilitiesAndWeights) {
  const WordTables tables = WordTables::random(8, 12, 3);
  const Hypotheses found = beam(tables, {.beam = 6, .best = 6, .coverage_penalty = .2});
  for (Index s = 0; s < 8; ++s) {
    const auto& best = found[static_cast<std::size_t>(s)];
    ASSERT_EQ(best.size(), 6U);
    std::set<Words> seen;
    for (std::size_t k = 0; k < best.size(); ++k) {
      EXPECT_TRUE(seen.insert(best[k].words).second);
      EXPECT_LE(best[k].score, k == 0 ? best[k].score : best[k - 1].score);
      EXPECT_NEAR(best[k].log_probability, tables.log_probability(s, best[k].words), 1e-9);
      const auto n = static_cast<Index>(best[k].words.size());
      const Tensor weights = tables.weights_along(s, best[k].words);
      ASSERT_EQ(best[k].weights.shape(), weights.shape());
      EXPECT_TRUE(std::ranges::equal(best[k].weights.values(), weights.values()));
      EXPECT_NEAR(best[k].score,
                  best[k].log_probability / length_penalty(n + 1, .6) + coverage_penalty(best[k].weights, .2), 1e-9);
    }
  }
}

TEST(BeamSearch, IsTheSameAloneAndInABatch) {
  const WordTables tables = WordTables::random(9, 150, 5, 3);
  const SearchOptions options{.beam = 4, .best = 3};
  const Hypotheses together = beam(tables, options);
  for (Index s = 0; s < 9; ++s) {
    const Hypotheses alone = beam(tables.only(s), options);
    ASSERT_EQ(alone[0].size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) expect_same(together[static_cast<std::size_t>(s)][k], alone[0][k]);
  }
}

TEST(BeamSearch, StoppingWhenCertainLosesNothing) {
  // Keeping four lowers the bar at which hypotheses are given up, so that search goes on for longer; its two best are
  // still those of the search that keeps two.
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const WordTables tables = WordTables::random(4, 40, seed, 2);
    for (const double alpha : {0.0, .6, 1.0}) {
      const Hypotheses two = beam(tables, {.beam = 4, .best = 2, .length_penalty = alpha});
      const Hypotheses four = beam(tables, {.beam = 4, .best = 4, .length_penalty = alpha});
      for (std::size_t s = 0; s < 4; ++s)
        for (std::size_t k = 0; k < 2; ++k) expect_same(two[s][k], four[s][k]);
    }
  }
}

TEST(BeamSearch, FinishedSourcesGiveTheirRowsBack) {
  const WordTables tables = WordTables::random(9, 6, 7);
  TableDecoding decoding(tables);
  beam_search(decoding, tables.length_ids(), {.beam = 3, .length_penalty = 2});
  ASSERT_GT(decoding.steps.size(), 3U);
  EXPECT_EQ(decoding.steps[0], 9);
  EXPECT_LE(*std::ranges::max_element(decoding.steps), 27);
  EXPECT_LT(decoding.steps.back(), 9);
  TableDecoding sooner(tables);
  beam_search(sooner, tables.length_ids(), {.beam = 3, .length_penalty = 2, .stopping = Stopping::beam_full});
  const auto rows = [](const TableDecoding& d) { return std::accumulate(d.steps.begin(), d.steps.end(), Index{0}); };
  EXPECT_LT(rows(sooner), rows(decoding));
}

TEST(BeamSearch, CoverageFavoursWhatLooksAtEverything) {
  // Word 3 keeps looking at the first of two source words, word 4 looks at the second; 3 is likelier.
  WordTables tables{5, {2}, {std::vector<double>(25, 1e-9)}, {std::vector<double>(10, 0)}};
  const auto set = [&tables](std::int32_t from, std::int32_t to, double p) {
    tables.probabilities[0][static_cast<std::size_t>(from * 5 + to)] = p;
  };
  set(1, 3, .6), set(1, 4, .4), set(3, 2, 1), set(4, 2, 1);
  for (const std::int32_t previous : {0, 1, 2, 3}) tables.weights[0][static_cast<std::size_t>(previous * 2)] = 1;
  tables.weights[0][4 * 2 + 1] = 1;
  EXPECT_EQ(beam(tables, {.beam = 2, .coverage_penalty = 0})[0][0].words, Words{3});
  EXPECT_EQ(beam(tables, {.beam = 2, .coverage_penalty = .3})[0][0].words, Words{4});
}

TEST(Search, PrefixesAreKept) {
  const WordTables tables = WordTables::random(3, 8, 9);
  SearchOptions options{.beam = 3, .best = 3, .prefixes = {{5, 7, 3}, {}, {4}}};
  for (const Hypotheses& found : {beam(tables, options), greedy(tables, options), sample(tables, options)})
    for (std::size_t s = 0; s < 3; ++s)
      for (const Hypothesis& hypothesis : found[s]) {
        const Words& prefix = options.prefixes[s];
        ASSERT_GE(hypothesis.words.size(), prefix.size());
        EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), hypothesis.words.begin()));
        EXPECT_NEAR(hypothesis.log_probability, tables.log_probability(static_cast<Index>(s), hypothesis.words), 1e-9);
      }
  const Hypotheses without = beam(tables, {.beam = 3, .best = 3});
  for (std::size_t k = 0; k < 3; ++k) expect_same(beam(tables, options)[1][k], without[1][k]);
}

TEST(Search, LengthsAreBoundedBySourceLengths) {
  WordTables tables = WordTables::random(4, 6, 2);
  for (auto& table : tables.probabilities)
    for (Index previous = 0; previous < 6; ++previous) table[static_cast<std::size_t>(previous * 6 + 2)] = 1e-12;
  SearchOptions options{.beam = 2, .longest_factor = 1.5, .longest_extra = 1};
  for (const Hypotheses& found : {beam(tables, options), greedy(tables, options), sample(tables, options)})
    for (std::size_t s = 0; s < 4; ++s) {
      EXPECT_EQ(static_cast<Index>(found[s][0].words.size()), tables.lengths[s] * 3 / 2 + 1);
      EXPECT_FALSE(found[s][0].finished);
      EXPECT_NEAR(found[s][0].log_probability, tables.log_probability(static_cast<Index>(s), found[s][0].words), 1e-9);
    }
}

TEST(Search, TheUnknownWordCanBeForbidden) {
  WordTables tables = WordTables::random(3, 6, 4);
  for (auto& table : tables.probabilities)
    for (Index previous = 0; previous < 6; ++previous) table[static_cast<std::size_t>(previous * 6)] = .5;
  SearchOptions options{.beam = 2};
  EXPECT_TRUE(std::ranges::count(greedy(tables, options)[0][0].words, 0) > 0);
  options.forbid_unknown = true;
  for (const Hypotheses& found : {beam(tables, options), greedy(tables, options), sample(tables, options)})
    for (const auto& best : found) EXPECT_EQ(std::ranges::count(best[0].words, 0), 0);
}

TEST(Search, NGramsComeButOnceWhereThatIsAsked) {
  const WordTables tables = WordTables::random(12, 5, 3);
  SearchOptions options{.beam = 4, .longest_factor = 6, .longest_extra = 6};
  const auto repeats = [](const Words& words, std::size_t n) {
    std::set<Words> seen;
    for (auto at = words.begin(); static_cast<std::size_t>(words.end() - at) >= n; ++at)
      if (!seen.insert(Words(at, at + static_cast<std::ptrdiff_t>(n))).second) return true;
    return false;
  };
  std::size_t free = 0;
  for (const Index n : {0, 1, 2, 3}) {
    options.no_repeat = n;
    for (const auto& search : {greedy, beam, sample})
      for (const std::vector<Hypothesis>& found : search(tables, options))
        for (const Hypothesis& hypothesis : found)
          if (n == 0)
            free += repeats(hypothesis.words, 2);
          else
            EXPECT_FALSE(repeats(hypothesis.words, static_cast<std::size_t>(n))) << n;
  }
  EXPECT_GT(free, 0u);
}

TEST(Search, WhatIsNotAllowedIsNotWritten) {
  const WordTables tables = WordTables::random(8, 7, 5);
  // Even words follow odd ones, and nothing is shorter than three words.
  SearchOptions options;
  options.allows = [](Index, std::span<const std::int32_t> words) {
    return [words](std::int32_t next) {
      if (next == 2) return words.size() >= 3;
      return next > 2 && (words.empty() || (words.back() + next) % 2 == 1);
    };
  };
  for (const auto& search : {greedy, beam, sample})
    for (const std::vector<Hypothesis>& found : search(tables, options)) {
      const Words& words = found.at(0).words;
      EXPECT_GE(words.size(), 3u);
      for (std::size_t i = 1; i < words.size(); ++i) EXPECT_EQ((words[i - 1] + words[i]) % 2, 1);
    }
}

TEST(Search, WorksWithoutAttention) {
  const WordTables tables = WordTables::random(2, 5, 8);
  TableDecoding decoding(tables, false);
  const Hypotheses found = beam_search(decoding, tables.length_ids(), {.beam = 3});
  EXPECT_EQ(found[1][0].words, beam(tables, {.beam = 3})[1][0].words);
  EXPECT_FALSE(found[1][0].weights);
  TableDecoding again(tables, false);
  EXPECT_NE(message_of([&] { beam_search(again, tables.length_ids(), {.coverage_penalty = .1}); }).find("attention"),
            std::string::npos);
}

TEST(Search, NothingInNothingOut) {
  const WordTables none{5, {}, {}, {}};
  EXPECT_TRUE(beam(none, {}).empty());
  EXPECT_TRUE(greedy(none, {}).empty());
}

TEST(Search, WrongOptionsAreErrors) {
  const WordTables tables = WordTables::random(2, 5, 8);
  const auto error = [&tables](const SearchOptions& options) {
    return message_of([&] {
      beam(tables, options);
      sample(tables, options);
    });
  };
  EXPECT_EQ(error({.beam = 0}), "[beam_search] the beam must be at least 1 wide, not 0");
  EXPECT_EQ(error({.beam = 2, .best = 3}), "[beam_search] a beam of 2 does not give the 3 best");
  EXPECT_EQ(error({.length_penalty = -1}), "[beam_search] penalties must not be negative: length -1, coverage 0");
  EXPECT_EQ(error({.prefixes = {{3}}}), "[beam_search] 1 prefixes for 2 sources");
  EXPECT_EQ(error({.prefixes = {{3}, {3, 2}}}), "[beam_search] the prefix of source 1 has the word 2");
  EXPECT_EQ(error({.prefixes = {{3}, {5}}}), "[beam_search] a prefix has the word 5 of a vocabulary of 5");
  EXPECT_EQ(error({.temperature = 0}), "[sample_search] the temperature must be above 0, not 0");
  EXPECT_EQ(error({.nucleus = 1.5}), "[sample_search] the nucleus must be in (0, 1], not 1.5");
  WordTables broken = tables;
  broken.probabilities[1].assign(25, std::numeric_limits<double>::quiet_NaN());
  for (const auto& search : {beam, greedy, sample})
    EXPECT_NE(message_of([&] { search(broken, {}); }).find("source 1: at word 0 no word has a probability"),
              std::string::npos);
}

// Samples --------------------------------------------------------------------------------------------------------

// How often each first word comes, of one source.
std::vector<double> first_words(const WordTables& tables, SearchOptions options, Index draws) {
  options.best = draws;
  options.longest_factor = 0, options.longest_extra = 1;
  std::vector<double> share(static_cast<std::size_t>(tables.vocabulary));
  const Hypotheses drawn = sample(tables, options);
  for (const Hypothesis& hypothesis : drawn[0])
    ++share[static_cast<std::size_t>(hypothesis.words.empty() ? 2 : hypothesis.words[0])];
  for (double& each : share) each /= static_cast<double>(draws);
  return share;
}

// Pearson's statistic must not exceed the 99.9 % point of χ² with the degrees of freedom that are left.
void expect_distributed(const std::vector<double>& share, const std::vector<double>& expected, double draws) {
  const std::vector<double> points = {0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12};
  double statistic = 0;
  std::size_t cells = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(share[i], 0) << "word " << i << " is outside the set";
      continue;
    }
    statistic += draws * (share[i] - expected[i]) * (share[i] - expected[i]) / expected[i];
    ++cells;
  }
  EXPECT_LE(statistic, points.at(cells - 1));
}

TEST(SampleSearch, FollowsTheProbabilities) {
  const WordTables tables = WordTables::random(1, 8, 21, 1);
  const std::vector<double> p(tables.probabilities[0].begin() + 8, tables.probabilities[0].begin() + 16);
  expect_distributed(first_words(tables, {.seed = 5}, 20000), p, 20000);
  for (const double temperature : {.5, 2.0}) {
    std::vector<double> bent;
    for (const double each : p) bent.push_back(std::pow(each, 1 / temperature));
    const double sum = std::accumulate(bent.begin(), bent.end(), 0.0);
    for (double& each : bent) each /= sum;
    expect_distributed(first_words(tables, {.temperature = temperature, .seed = 6}, 20000), bent, 20000);
  }
}

TEST(SampleSearch, NeverLeavesTheLikeliestWordsOrTheNucleus) {
  const std::vector<double> p = {.05, .3, .1, .02, .25, .08, .15, .05};
  WordTables tables = WordTables::random(1, 8, 21);
  std::ranges::copy(p, tables.probabilities[0].begin() + 8);
  // The three likeliest are 1, 4 and 6; .3 + .25 + .15 is the first sum of at least .6.
  const std::vector<double> three = {0, .3 / .7, 0, 0, .25 / .7, 0, .15 / .7, 0};
  expect_distributed(first_words(tables, {.top_k = 3}, 20000), three, 20000);
  expect_distributed(first_words(tables, {.nucleus = .6}, 20000), three, 20000);
  // Both: of the three likeliest, those that hold .75 of the .7.
  const std::vector<double> two = {0, .3 / .55, 0, 0, .25 / .55, 0, 0, 0};
  expect_distributed(first_words(tables, {.top_k = 3, .nucleus = .75}, 20000), two, 20000);
  expect_distributed(first_words(tables, {.top_k = 1}, 100), {0, 1, 0, 0, 0, 0, 0, 0}, 100);
}

TEST(SampleSearch, OfASentenceIsItsOwnWhateverTheBatch) {
  const WordTables tables = WordTables::random(6, 9, 14);
  const Hypotheses together = sample(tables, {.best = 3, .seed = 4, .sentences = {10, 11, 12, 13, 14, 15}});
  for (Index s = 0; s < 6; ++s) {
    const Hypotheses alone =
        sample(tables.only(s), {.best = 2, .seed = 4, .sentences = {10 + static_cast<std::uint64_t>(s)}});
    for (std::size_t k = 0; k < 2; ++k) expect_same(alone[0][k], together[static_cast<std::size_t>(s)][k]);
  }
  std::set<Words> other;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) other.insert(sample(tables, {.seed = seed})[0][0].words);
  EXPECT_GT(other.size(), 1U);
}

}  // namespace
}  // namespace heed::test
