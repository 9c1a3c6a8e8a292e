#include "heed/align/aligner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/align/read_bitext.h"
#include "heed/base/threads.h"
#include "heed/data/corpora/grammar.h"
#include "heed/metrics/aer.h"

namespace heed {
namespace {

// Sentences of the grammar with their right links.
struct GrammarText {
  Bitext text;
  std::vector<AlignmentLinks> gold;

  explicit GrammarText(Index pairs) {
    TextNumbers english, french;
    std::vector<std::int32_t> words;
    for (const GrammarPair& pair : generate_grammar_pairs(pairs, 3)) {
      english.number(pair.english, 100, words);
      text.source.add(words);
      french.number(pair.french, 100, words);
      text.target.add(words);
      gold.push_back(parse_alignment(pair.links));
    }
  }
  double error_rate(const std::function<WordLinks(std::size_t)>& links_of) const {
    AlignmentCounts counts;
    for (std::size_t n = 0; n < text.size(); ++n) {
      const WordLinks links = links_of(n);
      counts += compare_alignment({.sure = {}, .possible = {links.begin(), links.end()}}, gold[n]);
    }
    return counts.error_rate();
  }
};

TEST(Aligner, FindsTheLinksOfAGrammar) {
  const GrammarText grammar(2000);
  const double along_the_diagonal = grammar.error_rate([&](std::size_t n) {
    WordLinks links;
    const auto sources = static_cast<std::int32_t>(grammar.text.source[n].size());
    const auto targets = static_cast<std::int32_t>(grammar.text.target[n].size());
    for (std::int32_t t = 0; t < targets; ++t) links.emplace_back(t * sources / targets, t);
    return links;
  });
  EXPECT_GT(along_the_diagonal, 0.35);
  for (const AlignerOptions& options :
       {AlignerOptions{}, AlignerOptions{.jump_rounds = 0}, AlignerOptions{.agree = false}}) {
    const BothAlignments both = Aligner(grammar.text, options).align(grammar.text);
    for (const Join join : {Join::grow_diag_final_and, Join::intersection})
      EXPECT_LT(grammar.error_rate([&](std::size_t n) { return both.links(grammar.text, n, join); }), 0.13);
  }
}

TEST(Aligner, ThreadsChangeNothing) {
  const GrammarText grammar(700);
  const int threads = thread_count();
  std::vector<BothAlignments> found;
  std::vector<std::vector<float>> probabilities;
  for (const int count : {1, 2, 3}) {
    set_thread_count(count);
    const Aligner aligner(grammar.text, {.diagonal_rounds = 3, .jump_rounds = 3});
    found.push_back(aligner.align(grammar.text));
    std::vector<float>& all = probabilities.emplace_back();
    for (std::int32_t given = -1; given < 40; ++given)
      for (std::int32_t written = 0; written < 40; ++written)
        all.push_back(aligner.forward().table.probability(given, written));
    for (int jump = -5; jump <= 5; ++jump) all.push_back(aligner.backward().jumps.weight(jump));
    all.push_back(static_cast<float>(aligner.forward().diagonal.tension()));
  }
  set_thread_count(threads);
  for (std::size_t k = 1; k < found.size(); ++k) {
    EXPECT_EQ(found[k].forward, found[0].forward);
    EXPECT_EQ(found[k].backward, found[0].backward);
    EXPECT_EQ(probabilities[k], probabilities[0]);
  }
}

// One round on two small pairs, by hand: both directions begin with equal probabilities, and count the products of
// their posteriors.
TEST(Aligner, LearnsWhatBothDirectionsAgreeOn) {
  Bitext text;
  text.source.add(std::vector<std::int32_t>{0, 1});
  text.target.add(std::vector<std::int32_t>{0, 1});
  text.source.add(std::vector<std::int32_t>{0});
  text.target.add(std::vector<std::int32_t>{0});
  const Aligner aligner(text, {.diagonal_rounds = 1, .jump_rounds = 0, .null_probability = 0.2, .prior = 0});
  // Of word j the posterior of word i, among two words and among one: the table has 1/2 of 0, 1 and the empty word.
  const double near = 1, far = std::exp(-4 * 0.5);  // e^{λh} at λ = 4
  const auto posterior = [](double share, double all) { return 0.8 * share / all / (0.8 + 0.2); };
  const double straight = posterior(near, near + far), crossed = posterior(far, near + far), alone = 0.8;
  const double of_0_0 = straight * straight + alone * alone, of_0_1 = crossed * crossed;
  EXPECT_NEAR(aligner.forward().table.probability(0, 0), of_0_0 / (of_0_0 + of_0_1), 1e-6);
  EXPECT_NEAR(aligner.backward().table.probability(0, 1), of_0_1 / (of_0_0 + of_0_1), 1e-6);
  const double of_1_1 = straight * straight;
  EXPECT_NEAR(aligner.forward().table.probability(1, 1), of_1_1 / (of_1_1 + of_0_1), 1e-6);
  // The empty word keeps what each direction gives it: 0.2 of every written word.
  EXPECT_NEAR(aligner.forward().table.probability(-1, 0), 2.0 / 3, 1e-6);
}

TEST(Aligner, AlignsOtherSentencesWithWhatItLearnt) {
  const GrammarText grammar(1500);
  const Aligner aligner(grammar.text, {}, 30);
  Bitext other;
  other.source.add(grammar.text.source[7]);
  other.target.add(grammar.text.target[7]);
  other.source.add({});
  other.target.add({});
  other.source.add(std::vector<std::int32_t>{900'000, 0});  // a word that nobody has seen
  other.target.add(std::vector<std::int32_t>{0, 900'001});
  std::vector<std::int32_t> longer(30, 1);
  other.source.add(longer);
  other.target.add(longer);
  const BothAlignments found = aligner.align(other), known = aligner.align(grammar.text);
  EXPECT_EQ(found.links(other, 0, Join::union_of_both), known.links(grammar.text, 7, Join::union_of_both));
  EXPECT_EQ(found.links(other, 1, Join::union_of_both), WordLinks{});
  EXPECT_EQ(found.forward.size(), other.target.words().size());
  for (const auto& [source, target] : found.links(other, 3, Join::union_of_both)) {
    EXPECT_TRUE(source >= 0 && source < 30);
    EXPECT_TRUE(target >= 0 && target < 30);
  }
}

TEST(Aligner, HasNothingToLearnFromEmptySentences) {
  Bitext text;
  text.source.add({});
  text.target.add({});
  const Aligner aligner(text, {});
  EXPECT_EQ(aligner.align(text).forward, std::vector<std::int32_t>{});
}

}  // namespace
}  // namespace heed
