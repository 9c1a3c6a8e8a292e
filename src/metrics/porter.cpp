#include "heed/metrics/porter.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace heed {
namespace {

// A rule takes its ending off; where its condition holds for what is left, another ending comes on, else the word
// stays. The first rule whose ending fits is the only one.
struct Rule {
  std::string_view ending, replacement;
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kIrregular = {{{"sky", "sky"},
                                                                                       {"skies", "sky"},
                                                                                       {"dying", "die"},
                                                                                       {"lying", "lie"},
                                                                                       {"tying", "tie"},
                                                                                       {"news", "news"},
                                                                                       {"innings", "inning"},
                                                                                       {"inning", "inning"},
                                                                                       {"outings", "outing"},
                                                                                       {"outing", "outing"},
                                                                                       {"cannings", "canning"},
                                                                                       {"canning", "canning"},
                                                                                       {"howe", "howe"},
                                                                                       {"proceed", "proceed"},
                                                                                       {"exceed", "exceed"},
                                                                                       {"succeed", "succeed"}}};

constexpr std::array<Rule, 4> kPlurals = {{{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}}};
constexpr std::array<Rule, 21> kDouble = {
    {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
     {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
     {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
     {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
     {"fulli", "ful"}}};
constexpr std::array<Rule, 7> kAdjectives = {
    {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}};
constexpr std::array<Rule, 19> kLast = {{{"al", ""},
                                         {"ance", ""},
                                         {"ence", ""},
                                         {"er", ""},
                                         {"ic", ""},
                                         {"able", ""},
                                         {"ible", ""},
                                         {"ant", ""},
                                         {"ement", ""},
                                         {"ment", ""},
                                         {"ent", ""},
                                         {"ion", ""},
                                         {"ou", ""},
                                         {"ism", ""},
                                         {"ate", ""},
                                         {"iti", ""},
                                         {"ous", ""},
                                         {"ive", ""},
                                         {"ize", ""}}};

std::string_view without(std::string_view word, std::size_t letters) { return word.substr(0, word.size() - letters); }

bool is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

// Calls f(i, consonant) for each letter: y is a consonant at the beginning and after a vowel.
template <class F>
void each_letter(std::string_view word, F f) {
  bool consonant = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    consonant = word[i] == 'y' ? !consonant : !is_vowel(word[i]);
    f(i, consonant);
  }
}

bool is_consonant(std::string_view word, std::size_t place) {
  bool found = false;
  each_letter(word.substr(0, place + 1), [&](std::size_t, bool consonant) { found = consonant; });
  return found;
}

// How often consonants follow vowels: m of [C](VC)^m[V].
int measure(std::string_view word) {
  int count = 0;
  bool before = true;
  each_letter(word, [&](std::size_t, bool consonant) {
    count += consonant && !before ? 1 : 0;
    before = consonant;
  });
  return count;
}

bool contains_vowel(std::string_view word) {
  bool found = false;
  each_letter(word, [&](std::size_t, bool consonant) { found |= !consonant; });
  return found;
}

bool ends_in_double_consonant(std::string_view word) {
  const std::size_t n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && is_consonant(word, n - 1);
}

// Consonant, vowel, consonant but no w, x or y; of two letters vowel and consonant.
bool ends_in_short_syllable(std::string_view word) {
  const std::size_t n = word.size();
  if (n == 2) return !is_consonant(word, 0) && is_consonant(word, 1);
  return n >= 3 && is_consonant(word, n - 3) && !is_consonant(word, n - 2) && is_consonant(word, n - 1) &&
         word[n - 1] != 'w' && word[n - 1] != 'x' && word[n - 1] != 'y';
}

template <class Rules, class Condition>
std::string apply(const Rules& rules, std::string word, Condition holds) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.ending)) continue;
    const std::string_view stem = without(word, rule.ending.size());
    return holds(stem, rule) ? std::string(stem).append(rule.replacement) : word;
  }
  return word;
}

bool has_measure(std::string_view stem, const Rule&) { return measure(stem) > 0; }

std::string step_1a(std::string word) {
  if (word.size() == 4 && word.ends_with("ies")) return std::string(without(word, 1));
  return apply(kPlurals, std::move(word), [](std::string_view, const Rule&) { return true; });
}

// What is left after -ed and -ing.
std::string mended(std::string stem) {
  for (const std::string_view ending : {"at", "bl", "iz"})
    if (stem.ends_with(ending)) return stem + "e";
  const char last = stem.back();
  if (ends_in_double_consonant(stem))
    return last == 'l' || last == 's' || last == 'z' ? stem : std::string(without(stem, 1));
  return measure(stem) == 1 && ends_in_short_syllable(stem) ? stem + "e" : stem;
}

std::string step_1b(std::string word) {
  if (word.ends_with("ied")) return std::string(without(word, word.size() == 4 ? 1 : 2));
  if (word.ends_with("eed")) return measure(without(word, 3)) > 0 ? std::string(without(word, 1)) : word;
  for (const std::string_view ending : {"ed", "ing"})
    if (word.ends_with(ending) && contains_vowel(without(word, ending.size())))
      return mended(std::string(without(word, ending.size())));
  return word;
}

std::string step_1c(std::string word) {
  if (word.size() > 2 && word.back() == 'y' && is_consonant(word, word.size() - 2)) word.back() = 'i';
  return word;
}

std::string step_2(std::string word) {
  while (word.ends_with("alli") && measure(without(word, 4)) > 0) word.resize(word.size() - 2);
  if (word.ends_with("logi")) return measure(without(word, 3)) > 0 ? std::string(without(word, 1)) : word;
  return apply(kDouble, std::move(word), has_measure);
}

std::string step_4(std::string word) {
  return apply(kLast, std::move(word), [](std::string_view stem, const Rule& rule) {
    return measure(stem) > 1 && (rule.ending != "ion" || stem.back() == 's' || stem.back() == 't');
  });
}

std::string step_5(std::string word) {
  if (word.ends_with('e')) {
    const std::string_view stem = without(word, 1);
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_in_short_syllable(stem))) word.pop_back();
  }
  if (word.ends_with("ll") && measure(without(word, 1)) > 1) word.pop_back();
  return word;
}

}  // namespace

std::string porter_stem(std::string word) {
  const auto known = std::ranges::find(kIrregular, std::string_view(word), &decltype(kIrregular)::value_type::first);
  if (known != kIrregular.end()) return std::string(known->second);
  if (word.size() <= 2) return word;
  word = step_2(step_1c(step_1b(step_1a(std::move(word)))));
  return step_5(step_4(apply(kAdjectives, std::move(word), has_measure)));
}

}  // namespace heed
