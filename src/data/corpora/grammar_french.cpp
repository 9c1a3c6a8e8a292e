#include "heed/data/corpora/grammar_french.h"

#include <algorithm>
#include <array>

namespace heed {
namespace {

// The place of a person in a row of forms: je, il, nous, vous, ils.
std::size_t place(Agreement subject) {
  if (subject.person == 1) return subject.plural ? 2 : 0;
  if (subject.person == 2) return 3;
  return subject.plural ? 4 : 1;
}

using Forms = std::array<std::string_view, 5>;
constexpr Forms kFuture{"ai", "a", "ons", "ez", "ont"}, kImperfect{"ais", "ait", "ions", "iez", "aient"};
constexpr Forms kAvoir{"ai", "a", "avons", "avez", "ont"}, kEtre{"suis", "est", "sommes", "êtes", "sont"};

std::string imperfect(std::string stem, Agreement subject) {
  const std::string_view ending = kImperfect[place(subject)];
  if (stem.ends_with("ge") && ending.starts_with('i')) stem.pop_back();  // nous mangions
  return stem + std::string(ending);
}

// Every h of the lists is mute.
bool starts_with_vowel(std::string_view word) {
  static constexpr std::array<std::string_view, 17> kVowels{"a", "e", "i", "o", "u", "h", "é", "è", "ê",
                                                            "â", "î", "ô", "û", "ï", "œ", "à", "ë"};
  return std::any_of(kVowels.begin(), kVowels.end(), [&](std::string_view vowel) { return word.starts_with(vowel); });
}

struct Change {
  std::string_view word, becomes;
};
constexpr std::array<Change, 10> kBeforeVowel{{{"le", "l'"},
                                               {"la", "l'"},
                                               {"de", "d'"},
                                               {"ne", "n'"},
                                               {"je", "j'"},
                                               {"me", "m'"},
                                               {"que", "qu'"},
                                               {"ce", "cet"},
                                               {"ma", "mon"},
                                               {"sa", "son"}}};
constexpr std::array<Change, 3> kAdjectiveBeforeVowel{{{"beau", "bel"}, {"vieux", "vieil"}, {"nouveau", "nouvel"}}};

std::string changed(const FrenchWord& word, std::span<const Change> changes) {
  const auto change =
      std::find_if(changes.begin(), changes.end(), [&](const Change& each) { return each.word == word.text; });
  return change == changes.end() ? word.text : std::string(change->becomes);
}

// A preposition and the article after it that are one word; nothing if the two stay apart.
struct Melted {
  std::string_view preposition, article, both;
};
constexpr std::array<Melted, 2> kIndefinite{{{"de", "des", "de"}, {"de", "de", "de"}}};
constexpr std::array<Melted, 4> kDefinite{
    {{"de", "le", "du"}, {"de", "les", "des"}, {"à", "le", "au"}, {"à", "les", "aux"}}};

std::vector<FrenchWord> with_melted(std::vector<FrenchWord> words, std::span<const Melted> table) {
  std::vector<FrenchWord> result;
  for (FrenchWord& word : words) {
    const auto melted = std::find_if(table.begin(), table.end(), [&](const Melted& each) {
      return word.article && !result.empty() && each.preposition == result.back().text && each.article == word.text;
    });
    if (melted == table.end()) {
      result.push_back(std::move(word));
    } else {
      FrenchWord& last = result.back();
      last.text = melted->both;
      last.english.insert(last.english.end(), word.english.begin(), word.english.end());
    }
  }
  return result;
}

}  // namespace

const std::string& agreeing(const GrammarAdjective& adjective, Agreement agreement) {
  return adjective.french[(agreement.feminine ? 1U : 0U) + (agreement.plural ? 2U : 0U)];
}

std::string agreeing_participle(std::string participle, Agreement agreement) {
  if (agreement.feminine) participle += 'e';
  if (agreement.plural && !participle.ends_with('s')) participle += 's';
  return participle;
}

std::string finite_etre(Tense tense, Agreement subject) {
  switch (tense) {
    case Tense::present: return std::string(kEtre[place(subject)]);
    case Tense::future: return "ser" + std::string(kFuture[place(subject)]);
    case Tense::past:
    case Tense::imperfect: break;  // a state in the past is told in the imperfect
  }
  return imperfect("ét", subject);
}

std::string finite(const GrammarVerb& verb, Tense tense, Agreement subject) {
  switch (tense) {
    case Tense::present: return verb.present[place(subject)];
    case Tense::future: return verb.future + std::string(kFuture[place(subject)]);
    case Tense::past: return std::string((verb.with_etre ? kEtre : kAvoir)[place(subject)]);
    case Tense::imperfect: break;
  }
  const std::string& we = verb.present[2];
  return imperfect(we.substr(0, we.size() - 3), subject);  // without -ons
}

std::vector<FrenchWord> joined_up(std::vector<FrenchWord> words) {
  words = with_melted(std::move(words), kIndefinite);  // first: "de des amis" is "d' amis"
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!starts_with_vowel(words[i + 1].text)) continue;
    words[i].text = changed(words[i], kBeforeVowel);
    if (words[i].before_noun) words[i].text = changed(words[i], kAdjectiveBeforeVowel);
  }
  return with_melted(std::move(words), kDefinite);  // last: "de l' ami" stays apart
}

}  // namespace heed
