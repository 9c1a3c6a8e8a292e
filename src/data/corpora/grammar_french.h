#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/data/corpora/grammar_words.h"

namespace heed {

// Who does or has something: what verbs, adjectives and participles agree with.
struct Agreement {
  int person = 3;  // 1, 2 or 3; the second is always "vous", in the plural
  bool plural = false, feminine = false;
};

enum class Tense { present, past, imperfect, future };

// A French word and the English words that it comes from.
struct FrenchWord {
  std::string text;
  std::vector<int> english;
  bool article = false;      // may melt with "de" or "à" before it
  bool before_noun = false;  // an adjective before a noun in the singular, which may change for its vowel
};

const std::string& agreeing(const GrammarAdjective& adjective, Agreement agreement);
std::string agreeing_participle(std::string participle, Agreement agreement);
// The finite form; of the past, that of the auxiliary.
std::string finite(const GrammarVerb& verb, Tense tense, Agreement subject);
// Of être, which is in no list.
std::string finite_etre(Tense tense, Agreement subject);

// What neighbours do to each other: "le homme" becomes "l' homme", "de le" "du", "ma amie" "mon amie", "beau arbre"
// "bel arbre". Words that melt keep the links of both.
std::vector<FrenchWord> joined_up(std::vector<FrenchWord> words);

}  // namespace heed
