#pragma once

#include <string_view>

#include "heed/data/corpora/grammar_french.h"

namespace heed {

// The small words of the grammar corpus.

// A word and its French for masculine, feminine and plural.
struct GrammarDeterminer {
  std::string_view english_singular, english_plural;
  std::string_view masculine, feminine, plural;
};
inline constexpr GrammarDeterminer kGrammarDeterminers[] = {
    {"the", "the", "le", "la", "les"},
    {"the", "the", "le", "la", "les"},
    {"the", "the", "le", "la", "les"},
    {"a", "some", "un", "une", "des"},
    {"a", "some", "un", "une", "des"},
    {"this", "these", "ce", "cette", "ces"},
    {"my", "my", "mon", "ma", "mes"},
    {"your", "your", "votre", "votre", "vos"},
    {"our", "our", "notre", "notre", "nos"},
    {"their", "their", "leur", "leur", "leurs"},
    {"his", "his", "son", "sa", "ses"},
    {"her", "her", "son", "sa", "ses"},
    {"every", "two", "chaque", "chaque", "deux"},
    {"the", "three", "le", "la", "trois"},
    {"every", "many", "chaque", "chaque", ""},
    {"this", "five", "ce", "cette", "cinq"},
};

struct GrammarPronoun {
  std::string_view english, french;
  Agreement agreement;
};
inline constexpr GrammarPronoun kGrammarSubjects[] = {
    {"i", "je", {1, false, false}},    {"you", "vous", {2, true, false}}, {"he", "il", {3, false, false}},
    {"she", "elle", {3, false, true}}, {"we", "nous", {1, true, false}},  {"they", "ils", {3, true, false}}};
inline constexpr GrammarPronoun kGrammarObjects[] = {{"me", "me", {1, false, false}},
                                                     {"him", "le", {3, false, false}},
                                                     {"her", "la", {3, false, true}},
                                                     {"us", "nous", {1, true, false}},
                                                     {"them", "les", {3, true, false}}};

struct GrammarExpression {
  std::string_view english, french;
};
inline constexpr GrammarExpression kGrammarPlacePrepositions[] = {
    {"in", "dans"}, {"near", "près de"}, {"behind", "derrière"}, {"in front of", "devant"}, {"far from", "loin de"}};
inline constexpr GrammarExpression kGrammarThingPrepositions[] = {
    {"on", "sur"}, {"under", "sous"}, {"with", "avec"}, {"beside", "à côté de"}};
inline constexpr GrammarExpression kGrammarPastTimes[] = {{"yesterday", "hier"}, {"last week", "la semaine dernière"}};
inline constexpr GrammarExpression kGrammarPresentTimes[] = {
    {"today", "aujourd'hui"}, {"now", "maintenant"}, {"every day", "tous les jours"}};
inline constexpr GrammarExpression kGrammarFutureTimes[] = {
    {"tomorrow", "demain"}, {"soon", "bientôt"}, {"next week", "la semaine prochaine"}};
inline constexpr GrammarExpression kGrammarFrequencies[] = {
    {"often", "souvent"}, {"always", "toujours"}, {"sometimes", "parfois"}};

struct GrammarModal {
  std::string_view english, third, french_forms[5];
};
inline constexpr GrammarModal kGrammarModals[] = {{"want", "wants", {"veux", "veut", "voulons", "voulez", "veulent"}},
                                                  {"can", "can", {"peux", "peut", "pouvons", "pouvez", "peuvent"}},
                                                  {"must", "must", {"dois", "doit", "devons", "devez", "doivent"}}};
inline constexpr GrammarModal kGrammarSayings[] = {
    {"say", "says", {"dis", "dit", "disons", "dites", "disent"}},
    {"think", "thinks", {"pense", "pense", "pensons", "pensez", "pensent"}},
    {"know", "knows", {"sais", "sait", "savons", "savez", "savent"}}};

}  // namespace heed
