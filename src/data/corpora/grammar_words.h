#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace heed {

// The words that the grammar corpus is made of. Classes: p person, a animal, f food, t thing, r something to read,
// l place.
struct GrammarNoun {
  std::string english, english_plural, french, french_plural;
  bool feminine;
  char kind;
};

struct GrammarAdjective {
  std::string english;
  std::array<std::string, 4> french;  // masculine, feminine, and the two plurals
  bool before;                        // in French before its noun
  std::string kinds;                  // of the nouns it goes with
};

struct GrammarVerb {
  std::string english, english_third, english_past, english_ing, english_preposition;
  std::string french_preposition, infinitive;
  std::array<std::string, 5> present;  // je, il, nous, vous, ils
  std::string future, participle;      // the stem of the future; the masculine singular
  bool with_etre;                      // the past is made with être, and the participle agrees with the subject
  std::string subjects, objects;       // kinds; no objects: intransitive
};

std::span<const GrammarNoun> grammar_nouns();
std::span<const GrammarAdjective> grammar_adjectives();
std::span<const GrammarVerb> grammar_verbs();

}  // namespace heed
