#include "heed/data/corpora/grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "heed/data/corpora/grammar_french.h"
#include "heed/data/corpora/grammar_words.h"
#include "heed/data/word_links.h"
#include "heed/data/text_file.h"
#include "heed/base/utf8.h"
#include "support/messages.h"

namespace heed {
namespace {

const std::vector<GrammarPair>& pairs() {
  static const std::vector<GrammarPair> all = generate_grammar_pairs(20'000, 5);
  return all;
}

std::vector<std::string> words(const std::string& text) {
  const auto views = words_of_line(text);
  return {views.begin(), views.end()};
}

WordLinks links_of(const GrammarPair& pair) { return read_word_links(pair.links).value(); }

TEST(Grammar, IsDeterminedByItsSeed) {
  const auto text = [](std::uint64_t seed) {
    std::string all;
    for (const GrammarPair& pair : generate_grammar_pairs(200, seed))
      all += pair.english + '\n' + pair.french + '\n' + pair.links + '\n';
    return all;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

// By whatever compiler: were two random numbers drawn in one expression, their order would be its choice.
TEST(Grammar, SentencesAreTheSameInEveryBuild) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const GrammarPair& pair : generate_grammar_pairs(3000, 7))
    for (const char c : pair.english + '\t' + pair.french + '\t' + pair.links + '\n')
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  EXPECT_EQ(hash, 0xdc235faa88cfd80dU);
}

TEST(Grammar, SentencesAreDistinctAndOfAllLengths) {
  std::set<std::string> seen;
  std::set<std::size_t> lengths;
  for (const GrammarPair& pair : pairs()) {
    EXPECT_TRUE(seen.insert(pair.english).second) << pair.english;
    lengths.insert(words(pair.english).size());
    EXPECT_TRUE(valid_utf8(pair.french));
  }
  EXPECT_EQ(*lengths.begin(), static_cast<std::size_t>(kGrammarShortest));
  EXPECT_EQ(*lengths.rbegin(), static_cast<std::size_t>(kGrammarLongest));
}

TEST(Grammar, EveryWordIsLinkedAndLinksStayInside) {
  for (const GrammarPair& pair : pairs()) {
    const std::size_t m = words(pair.english).size(), n = words(pair.french).size();
    const auto links = read_word_links(pair.links);
    ASSERT_TRUE(links.has_value()) << pair.links;
    std::set<std::int32_t> english, french;
    for (const auto& [i, j] : *links) {
      ASSERT_LT(i, static_cast<std::int32_t>(m)) << pair.english;
      ASSERT_LT(j, static_cast<std::int32_t>(n)) << pair.french;
      english.insert(i), french.insert(j);
    }
    EXPECT_EQ(english.size(), m) << pair.english << '\n' << pair.french << '\n' << pair.links;
    EXPECT_EQ(french.size(), n) << pair.english << '\n' << pair.french << '\n' << pair.links;
    EXPECT_EQ(std::set(links->begin(), links->end()).size(), links->size());
  }
}

// The French words linked with a word of the English.
std::vector<std::string> linked(const GrammarPair& pair, std::size_t i) {
  std::vector<std::string> result;
  for (const auto& [source, target] : links_of(pair))
    if (static_cast<std::size_t>(source) == i) result.push_back(words(pair.french)[static_cast<std::size_t>(target)]);
  return result;
}

TEST(Grammar, NounsAndDeterminersAgree) {
  std::map<std::string, std::pair<const GrammarNoun*, bool>> nouns;  // by the French form; whether it is plural
  for (const GrammarNoun& noun : grammar_nouns()) {
    nouns[noun.french] = {&noun, false};
    if (noun.french_plural != noun.french) nouns[noun.french_plural] = {&noun, true};
  }
  const std::set<std::string> masculine{"un", "ce", "cet", "le", "du", "au"},
      feminine{"une", "cette", "la", "ma", "sa"},
      plural{"les", "des", "ces", "mes", "vos", "nos", "leurs", "ses", "deux", "trois", "cinq"};
  Index checked = 0;
  for (const GrammarPair& pair : pairs()) {
    const std::vector<std::string> french = words(pair.french);
    for (std::size_t j = 1; j < french.size(); ++j) {
      const auto found = nouns.find(french[j]);
      if (found == nouns.end()) continue;
      const auto& [noun, many] = found->second;
      if (noun->french == noun->french_plural) continue;
      const std::string& before = french[j - 1];
      // le, la and les may be pronouns, and "la porte" then a verb; they are not looked at.
      if (masculine.contains(before) && before != "le") {
        EXPECT_TRUE(!noun->feminine && !many) << pair.french;
      }
      if (before == "une" || before == "cette" || before == "ma" || before == "sa") {
        EXPECT_TRUE(noun->feminine && !many) << pair.french;
      }
      if (plural.contains(before) && before != "les") {
        EXPECT_TRUE(many) << pair.french;
      }
      checked += masculine.contains(before) || feminine.contains(before) || plural.contains(before);
    }
  }
  EXPECT_GT(checked, 10'000);
}

TEST(Grammar, AdjectivesTakeTheFormAndThePlaceOfTheirKind) {
  const auto before_after = [](std::string_view english, bool before) {
    Index seen = 0;
    for (const GrammarPair& pair : pairs()) {
      const std::vector<std::string> source = words(pair.english);
      for (std::size_t i = 1; i + 1 < source.size(); ++i) {
        const GrammarNoun* noun = nullptr;
        for (const GrammarNoun& each : grammar_nouns())
          if (each.english == source[i + 1] && each.english_plural != each.english) noun = &each;
        if (source[i] != english || !noun) continue;
        const auto position = [&](std::size_t word) {
          for (const auto& [s, t] : links_of(pair))
            if (static_cast<std::size_t>(s) == word) return t;
          return -1;
        };
        EXPECT_EQ(position(i) < position(i + 1), before) << pair.english << '\n' << pair.french;
        ++seen;
      }
    }
    EXPECT_GT(seen, 20) << english;
  };
  before_after("big", true);
  before_after("strange", false);
  before_after("white", false);
}

TEST(Grammar, NegationIsTwoWords) {
  Index seen = 0;
  for (const GrammarPair& pair : pairs()) {
    const std::vector<std::string> english = words(pair.english);
    for (std::size_t i = 0; i < english.size(); ++i) {
      if (english[i] != "not" && english[i] != "never") continue;
      const std::vector<std::string> french = linked(pair, i);
      ASSERT_EQ(french.size(), 2U) << pair.french;
      EXPECT_TRUE(french[0] == "ne" || french[0] == "n'") << pair.french;
      EXPECT_EQ(french[1], english[i] == "not" ? "pas" : "jamais") << pair.french;
      ++seen;
    }
  }
  EXPECT_GT(seen, 1000);
}

TEST(Grammar, NeighboursAreJoinedUp) {
  const std::set<std::string> elided{"l'", "d'", "n'", "j'", "m'", "qu'"},
      full{"le", "la", "de", "ne", "je", "me", "que"};
  const auto vowel = [](const std::string& word) {
    static const std::vector<std::string> all{"a", "e", "i", "o", "u", "h", "é", "ê", "è", "â", "î", "ô", "œ"};
    return std::any_of(all.begin(), all.end(), [&](const std::string& each) { return word.starts_with(each); });
  };
  for (const GrammarPair& pair : pairs()) {
    const std::vector<std::string> french = words(pair.french);
    for (std::size_t j = 0; j + 1 < french.size(); ++j) {
      if (elided.contains(french[j])) {
        EXPECT_TRUE(vowel(french[j + 1])) << pair.french;
      }
      if (full.contains(french[j])) {
        EXPECT_FALSE(vowel(french[j + 1])) << pair.french;
      }
      if (french[j] == "de" || french[j] == "à") {
        EXPECT_NE(french[j + 1], "le") << pair.french;
        EXPECT_NE(french[j + 1], "les") << pair.french;
      }
      if (french[j] == "de") {
        EXPECT_TRUE(french[j + 1] != "des" && french[j + 1] != "de") << pair.french;
      }
    }
  }
}

TEST(Grammar, VerbsAreConjugated) {
  const auto verb = [](std::string_view english) {
    return *std::find_if(grammar_verbs().begin(), grammar_verbs().end(),
                         [&](const GrammarVerb& each) { return each.english == english; });
  };
  const Agreement i{1, false, false}, she{3, false, true}, we{1, true, false}, you{2, true, false},
      they{3, true, false};
  EXPECT_EQ(finite(verb("eat"), Tense::imperfect, we), "mangions");
  EXPECT_EQ(finite(verb("eat"), Tense::imperfect, i), "mangeais");
  EXPECT_EQ(finite(verb("go"), Tense::future, they), "iront");
  EXPECT_EQ(finite(verb("see"), Tense::imperfect, you), "voyiez");
  EXPECT_EQ(finite(verb("go"), Tense::past, she), "est");
  EXPECT_EQ(finite(verb("take"), Tense::past, they), "ont");
  EXPECT_EQ(agreeing_participle("allé", {3, true, true}), "allées");
  EXPECT_EQ(agreeing_participle("pris", they), "pris");
  EXPECT_EQ(finite_etre(Tense::imperfect, we), "étions");
  EXPECT_EQ(finite_etre(Tense::future, i), "serai");
}

TEST(Grammar, TheListsAreWhole) {
  std::set<std::string> english;
  for (const GrammarNoun& noun : grammar_nouns()) {
    EXPECT_TRUE(english.insert(noun.english).second) << noun.english << " is there twice";
    EXPECT_NE(std::string_view("paftrl").find(noun.kind), std::string_view::npos) << noun.english;
  }
  for (const GrammarVerb& verb : grammar_verbs()) {
    EXPECT_FALSE(verb.subjects.empty()) << verb.english;
    EXPECT_TRUE(verb.present[2].ends_with("ons")) << verb.english;
    EXPECT_TRUE(verb.future.ends_with("r")) << verb.english;
    EXPECT_TRUE(verb.english_ing.ends_with("ing")) << verb.english;
  }
}

TEST(Grammar, ACorpusOfNothingIsAnError) {
  EXPECT_EQ(test::message_of([] { generate_grammar_pairs(0, 1); }), "[grammar] 0 sentences make no corpus");
}

}  // namespace
}  // namespace heed
