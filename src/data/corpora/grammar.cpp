#include "heed/data/corpora/grammar.h"

#include <algorithm>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/data/corpora/grammar_expressions.h"
#include "heed/data/corpora/grammar_french.h"
#include "heed/data/corpora/grammar_words.h"
#include "heed/data/word_links.h"

namespace heed {
namespace {

struct EnglishWord {
  std::string text;
  int id;  // by which French words name it
};

struct Phrase {
  std::vector<EnglishWord> english;
  std::vector<FrenchWord> french;

  Phrase& operator+=(const Phrase& other) {
    english.insert(english.end(), other.english.begin(), other.english.end());
    french.insert(french.end(), other.french.begin(), other.french.end());
    return *this;
  }
};

struct NounPhrase : Phrase {
  Agreement agreement;
  std::vector<FrenchWord> clitic;  // a pronoun that stands before the French verb instead
};

std::string_view form_of(const GrammarModal& modal, Agreement subject) {
  if (subject.person == 1) return modal.french_forms[subject.plural ? 2 : 0];
  if (subject.person == 2) return modal.french_forms[3];
  return modal.french_forms[subject.plural ? 4 : 1];
}

bool third_singular(Agreement subject) { return subject.person == 3 && !subject.plural; }

std::string_view be(Tense tense, Agreement subject) {
  const bool first = subject.person == 1 && !subject.plural;
  if (tense == Tense::present) return first ? "am" : third_singular(subject) ? "is" : "are";
  return first || third_singular(subject) ? "was" : "were";
}

std::string_view do_form(Tense tense, Agreement subject) {
  return tense == Tense::past ? "did" : third_singular(subject) ? "does" : "do";
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t space; (space = text.find(' ')) != std::string_view::npos; text.remove_prefix(space + 1))
    words.emplace_back(text.substr(0, space));
  words.emplace_back(text);
  return words;
}

// Draws at most once between two sequence points: the order in which arguments are evaluated is the compiler's.
class Speaker {
 public:
  explicit Speaker(RandomSequence& random) : random_(random) {}

  GrammarPair sentence() {
    Phrase whole;
    bool question = false;
    switch (random_.below(10)) {
      case 0:
      case 1:
        question = chance(0.7);
        whole = clause(any_tense(), question);
        break;
      case 2: whole = existence(); break;
      case 3: whole = description(any_tense()); break;
      case 4: whole = saying(); break;
      case 5:
      case 6: whole = compound(); break;
      default: whole = clause(any_tense(), false); break;
    }
    whole += same(question ? "?" : ".");
    return written(whole);
  }

 private:
  bool chance(double share) { return random_.uniform() < share; }
  template <class Range>
  const auto& one_of(const Range& range) {
    return std::data(range)[random_.below(std::size(range))];
  }
  Tense any_tense() {
    constexpr Tense kTenses[] = {Tense::present, Tense::present, Tense::past, Tense::imperfect, Tense::future};
    return one_of(kTenses);
  }

  // Small phrases -------------------------------------------------------------------------------------------------

  // One English expression and one French; all their words belong together.
  Phrase pair(std::string_view english, std::string_view french) {
    Phrase phrase;
    std::vector<int> ids;
    for (const std::string& word : split(english)) {
      phrase.english.push_back({word, next_id_});
      ids.push_back(next_id_++);
    }
    if (french.empty()) return phrase;
    for (const std::string& word : split(french)) phrase.french.push_back({word, ids});
    return phrase;
  }
  Phrase pair(const GrammarExpression& both) { return pair(both.english, both.french); }
  Phrase same(std::string_view word) { return pair(word, word); }
  // A French word for English words that are there already.
  static FrenchWord of(std::string_view french, std::vector<int> ids) { return {std::string(french), std::move(ids)}; }

  // Nouns ---------------------------------------------------------------------------------------------------------

  const GrammarNoun& noun_of(std::string_view kinds) {
    while (true) {
      const GrammarNoun& noun = one_of(grammar_nouns());
      if (kinds.find(noun.kind) != std::string_view::npos) return noun;
    }
  }
  // An adjective for such a noun; or none, if the first few do not fit.
  const GrammarAdjective* adjective_for(char kind, bool before) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const GrammarAdjective& adjective = one_of(grammar_adjectives());
      if (adjective.before == before && adjective.kinds.find(kind) != std::string::npos) return &adjective;
    }
    return nullptr;
  }

  // `depth` bounds what may hang on the noun. Under a negation an indefinite object has "de" for its article.
  NounPhrase noun_phrase(std::string_view kinds, int depth, bool negated_object = false) {
    const GrammarNoun& noun = noun_of(kinds);
    NounPhrase phrase;
    phrase.agreement = {3, chance(0.35), noun.feminine};
    const Agreement agreement = phrase.agreement;
    const GrammarAdjective* const before = chance(0.25) ? adjective_for(noun.kind, true) : nullptr;
    const GrammarAdjective* const after = chance(0.3) ? adjective_for(noun.kind, false) : nullptr;
    GrammarDeterminer determiner = one_of(kGrammarDeterminers);
    if (agreement.plural && determiner.english_plural == "some" && before) determiner.plural = "de";
    const bool indefinite = determiner.english_singular == "a";
    if (negated_object && indefinite) determiner.masculine = determiner.feminine = determiner.plural = "de";

    Phrase parts = determined(determiner, agreement);
    Phrase noun_part = pair(agreement.plural ? noun.english_plural : noun.english,
                            agreement.plural ? noun.french_plural : noun.french);
    Phrase before_part, after_part;
    if (before) before_part = pair(before->english, agreeing(*before, agreement));
    if (after) after_part = pair(after->english, agreeing(*after, agreement));
    for (FrenchWord& word : before_part.french) word.before_noun = !agreement.plural;
    // English: both adjectives before the noun. French: one before, one after.
    phrase += parts;
    phrase += before_part;
    phrase.english.insert(phrase.english.end(), after_part.english.begin(), after_part.english.end());
    phrase += noun_part;
    phrase.french.insert(phrase.french.end(), after_part.french.begin(), after_part.french.end());
    choose_article(phrase.english);
    if (depth > 0) hang_on(phrase, noun.kind, depth);
    return phrase;
  }
  Phrase determined(const GrammarDeterminer& determiner, Agreement agreement) {
    if (agreement.plural && determiner.english_plural == "many") return pair("many", "beaucoup de");
    Phrase phrase = agreement.plural ? pair(determiner.english_plural, determiner.plural)
                                     : pair(determiner.english_singular,
                                            agreement.feminine ? determiner.feminine : determiner.masculine);
    phrase.french.front().article =
        (agreement.plural ? determiner.english_plural : determiner.english_singular) == "the" ||
        (agreement.plural && determiner.english_plural == "some");
    return phrase;
  }
  static void choose_article(std::vector<EnglishWord>& words) {
    if (words.front().text == "a" && std::string_view("aeiou").find(words[1].text.front()) != std::string_view::npos)
      words.front().text = "an";
  }
  void hang_on(NounPhrase& phrase, char kind, int depth) {
    const bool living = kind == 'p' || kind == 'a';
    if (chance(0.1)) {
      phrase += pair("of", "de");
      phrase += noun_phrase(living ? "p" : "pl", 0);
    } else if (chance(0.1)) {
      phrase += where(depth - 1);
    } else if (living && chance(0.15)) {
      phrase += pair("who", "qui");
      phrase += predicate(phrase.agreement, one_of(kSimpleTenses), depth - 1);
    }
  }
  static constexpr Tense kSimpleTenses[] = {Tense::present, Tense::past, Tense::imperfect};

  Phrase where(int depth) {
    const bool place = chance(0.7);
    Phrase phrase = place ? pair(one_of(kGrammarPlacePrepositions)) : pair(one_of(kGrammarThingPrepositions));
    return phrase += noun_phrase(place ? "l" : "t", depth);
  }
  NounPhrase subject(std::string_view kinds, int depth) {
    if (!chance(0.3)) return noun_phrase(kinds, depth);
    NounPhrase phrase;
    const GrammarPronoun& pronoun = one_of(kGrammarSubjects);
    phrase += pair(pronoun.english, pronoun.french);
    phrase.agreement = pronoun.agreement;
    return phrase;
  }
  NounPhrase object(const GrammarVerb& verb, int depth, bool negated) {
    const bool direct = verb.french_preposition.empty();
    if (direct && verb.objects.find('p') != std::string::npos && chance(0.3)) {
      const GrammarPronoun& pronoun = one_of(kGrammarObjects);
      NounPhrase phrase;
      const Phrase both = pair(pronoun.english, pronoun.french);
      phrase.english = both.english;
      phrase.clitic = both.french;
      phrase.agreement = pronoun.agreement;
      return phrase;
    }
    return noun_phrase(verb.objects, depth, negated && direct);
  }

  // Verbs ---------------------------------------------------------------------------------------------------------

  const GrammarVerb& verb_for(std::string_view subjects) {
    while (true) {
      const GrammarVerb& verb = one_of(grammar_verbs());
      if (std::any_of(verb.subjects.begin(), verb.subjects.end(),
                      [&](char kind) { return subjects.find(kind) != std::string_view::npos; }))
        return verb;
    }
  }

  // Everything of a clause but its subject. English may need the auxiliary apart, to put it before the subject.
  struct Predicate {
    std::vector<EnglishWord> auxiliary, english;
    std::vector<FrenchWord> french;
  };

  Phrase predicate(Agreement subject, Tense tense, int depth) {
    Predicate made = make_predicate(verb_for("p"), subject, tense, false, depth);
    Phrase phrase{std::move(made.auxiliary), std::move(made.french)};
    phrase.english.insert(phrase.english.end(), made.english.begin(), made.english.end());
    return phrase;
  }

  Predicate make_predicate(const GrammarVerb& verb, Agreement subject, Tense tense, bool question, int depth) {
    Predicate result;
    const bool negated = chance(0.2), never = !negated && tense != Tense::past && chance(0.05);
    const GrammarModal* const modal = tense == Tense::present && chance(0.2) ? &one_of(kGrammarModals) : nullptr;
    const bool frequency = !negated && !never && !modal && tense == Tense::present && chance(0.15);

    // The auxiliary, and which form of the verb follows it.
    std::string_view auxiliary, main = verb.english;
    if (modal && modal->english != "want") {
      auxiliary = modal->english;
    } else if (tense == Tense::imperfect) {
      auxiliary = be(tense, subject), main = verb.english_ing;
    } else if (tense == Tense::future) {
      auxiliary = "will";
    } else if (negated || question) {
      auxiliary = do_form(tense, subject);
    } else if (!modal) {
      main = tense == Tense::past ? verb.english_past : third_singular(subject) ? verb.english_third : verb.english;
    }
    const auto add = [this](std::vector<EnglishWord>& words, std::string_view text) {
      words.push_back({std::string(text), next_id_});
      return next_id_++;
    };
    std::vector<int> finite_ids, verb_ids, negation;
    if (!auxiliary.empty()) finite_ids.push_back(add(result.auxiliary, auxiliary));
    if (negated) negation.push_back(add(result.english, "not"));
    if (never) negation.push_back(add(result.english, "never"));
    Phrase often;
    if (frequency) {
      often = pair(one_of(kGrammarFrequencies));
      result.english.insert(result.english.end(), often.english.begin(), often.english.end());
    }
    if (modal && auxiliary != modal->english) {
      const bool third = auxiliary.empty() && third_singular(subject);
      finite_ids.push_back(add(result.english, third ? modal->third : modal->english));
      verb_ids.push_back(add(result.english, "to"));
    }
    verb_ids.push_back(add(result.english, main));
    const bool two_words = modal || tense == Tense::past;  // of the French verb
    if (!modal && (tense != Tense::past || auxiliary.empty()))
      finite_ids.insert(finite_ids.end(), verb_ids.begin(), verb_ids.end());

    NounPhrase complement;
    Phrase preposition;
    if (!verb.objects.empty()) {
      if (!verb.english_preposition.empty()) preposition = pair(verb.english_preposition, verb.french_preposition);
      if (!preposition.english.empty() && preposition.french.empty())  // "looks at": all of it is the verb
        (two_words ? verb_ids : finite_ids).push_back(preposition.english.front().id);
      complement = object(verb, depth, negated || never);
    }
    result.english.insert(result.english.end(), preposition.english.begin(), preposition.english.end());
    result.english.insert(result.english.end(), complement.english.begin(), complement.english.end());

    // French: ne + pronoun + finite verb + pas + adverb + participle or (pronoun +) infinitive + complement.
    const auto append = [&result](const std::vector<FrenchWord>& words) {
      result.french.insert(result.french.end(), words.begin(), words.end());
    };
    if (!negation.empty()) result.french.push_back(of("ne", negation));
    if (!modal) append(complement.clitic);
    result.french.push_back(of(modal ? form_of(*modal, subject) : finite(verb, tense, subject), finite_ids));
    if (!negation.empty()) result.french.push_back(of(negated ? "pas" : "jamais", negation));
    append(often.french);
    if (modal) {
      append(complement.clitic);
      result.french.push_back(of(verb.infinitive, verb_ids));
    } else if (tense == Tense::past) {
      const Agreement agreement = verb.with_etre               ? subject
                                  : !complement.clitic.empty() ? complement.agreement
                                                               : Agreement{};
      result.french.push_back(of(agreeing_participle(verb.participle, agreement), verb_ids));
    }
    append(preposition.french);
    append(complement.french);
    return result;
  }

  // Source -----------------------------------------------------------------------------------------------------

  Phrase time(Tense tense) {
    if (tense == Tense::present) return pair(one_of(kGrammarPresentTimes));
    if (tense == Tense::future) return pair(one_of(kGrammarFutureTimes));
    return pair(one_of(kGrammarPastTimes));
  }

  Phrase clause(Tense tense, bool question) {
    const GrammarVerb& verb = verb_for("pa");
    const NounPhrase doer = subject(verb.subjects, question ? 0 : 1);
    Predicate made = make_predicate(verb, doer.agreement, tense, question, 1);
    Phrase result;
    const bool first = !question && chance(0.1);
    if (first) result += time(tense);
    if (question) {
      // "does the cat sleep" is "est-ce que le chat dort".
      result.english = made.auxiliary;
      std::vector<int> ids{made.auxiliary.front().id};
      result.french = {of("est-ce", ids), of("que", ids)};
      result += doer;
    } else {
      result += doer;
      result.english.insert(result.english.end(), made.auxiliary.begin(), made.auxiliary.end());
    }
    result += Phrase{made.english, made.french};
    if (chance(0.25)) result += where(0);
    if (!first && chance(0.2)) result += time(tense);
    return result;
  }

  // "the house was very old"
  Phrase description(Tense tense) {
    if (tense == Tense::past) tense = Tense::imperfect;
    const GrammarNoun* noun = nullptr;
    NounPhrase thing = subject("paftrl", 0);
    // What it is called decides which adjectives fit; a pronoun is a person.
    const std::string& last = thing.english.back().text;
    for (const GrammarNoun& each : grammar_nouns())
      if (each.english == last || each.english_plural == last) noun = &each;
    const GrammarAdjective* adjective = nullptr;
    while (!adjective) adjective = adjective_for(noun ? noun->kind : 'p', chance(0.4));
    Phrase result{thing.english, thing.french};
    const bool negated = chance(0.2);
    Phrase copula = tense == Tense::future ? pair("will be", "") : pair(be(tense, thing.agreement), "");
    Phrase negation;
    if (negated) negation = pair("not", "ne pas");
    std::vector<int> ids;
    for (const EnglishWord& word : copula.english) ids.push_back(word.id);
    result.english.push_back(copula.english.front());  // "will not be", "is not"
    result.english.insert(result.english.end(), negation.english.begin(), negation.english.end());
    result.english.insert(result.english.end(), copula.english.begin() + 1, copula.english.end());
    if (negated) result.french.push_back(negation.french[0]);
    result.french.push_back(of(finite_etre(tense, thing.agreement), ids));
    if (negated) result.french.push_back(negation.french[1]);
    if (chance(0.3)) result += pair("very", "très");
    return result += pair(adjective->english, agreeing(*adjective, thing.agreement));
  }

  // "there is a cat in the garden"
  Phrase existence() {
    NounPhrase thing = noun_phrase("paftr", 0);
    const bool present = chance(0.6);
    const Tense tense = present ? Tense::present : Tense::imperfect;
    Phrase result = pair("there " + std::string(be(tense, thing.agreement)), present ? "il y a" : "il y avait");
    result += thing;
    return result += where(1);
  }

  // "my sister thinks that the cat is hungry"
  Phrase saying() {
    NounPhrase speaker = subject("p", 0);
    const GrammarModal& verb = one_of(kGrammarSayings);
    Phrase result{speaker.english, speaker.french};
    result += pair(third_singular(speaker.agreement) ? verb.third : verb.english, form_of(verb, speaker.agreement));
    result += pair("that", "que");
    return result += chance(0.3) ? description(any_tense()) : clause(any_tense(), false);
  }

  Phrase compound() {
    constexpr GrammarExpression kJoins[] = {
        {"and", "et"}, {"but", "mais"}, {"because", "parce que"}, {"while", "pendant que"}};
    const Tense tense = any_tense();
    Phrase result = chance(0.3) ? description(tense) : clause(tense, false);
    result += pair(one_of(kJoins));
    return result += chance(0.3) ? description(tense) : clause(tense, false);
  }

  static GrammarPair written(const Phrase& phrase) {
    GrammarPair result;
    WordLinks links;
    for (const EnglishWord& word : phrase.english) result.english += (result.english.empty() ? "" : " ") + word.text;
    const std::vector<FrenchWord> french = joined_up(phrase.french);
    for (std::size_t j = 0; j < french.size(); ++j) {
      result.french += (j == 0 ? "" : " ") + french[j].text;
      for (std::size_t i = 0; i < phrase.english.size(); ++i)
        if (std::count(french[j].english.begin(), french[j].english.end(), phrase.english[i].id) > 0)
          links.emplace_back(i, j);
    }
    std::sort(links.begin(), links.end());
    result.links = word_links_text(links);
    return result;
  }

  RandomSequence& random_;
  int next_id_ = 0;
};

}  // namespace

GrammarPair generate_grammar_pair(RandomSequence& random) {
  while (true) {
    GrammarPair pair = Speaker(random).sentence();
    const auto words = std::count(pair.english.begin(), pair.english.end(), ' ') + 1;
    if (words >= kGrammarShortest && words <= kGrammarLongest) return pair;
  }
}

std::vector<GrammarPair> generate_grammar_pairs(Index count, std::uint64_t seed) {
  require(count > 0, "[grammar] {} sentences make no corpus", count);
  RandomSequence random(RandomKey{seed}.derive("grammar"));
  std::vector<GrammarPair> pairs;
  std::unordered_set<std::string> seen;
  int repeated = 0;  // in a row
  while (static_cast<Index>(pairs.size()) < count) {
    GrammarPair pair = generate_grammar_pair(random);
    if (seen.insert(pair.english).second) {
      pairs.push_back(std::move(pair));
      repeated = 0;
    } else {
      require(++repeated < 1000, "[grammar] {} different sentences are all it can say, not {}", pairs.size(), count);
    }
  }
  return pairs;
}

}  // namespace heed
