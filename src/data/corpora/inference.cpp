#include "heed/data/corpora/inference.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/word_links.h"

namespace heed {
namespace {

using std::string_view;

// How the premise's word stands to the hypothesis's: `wider` is said of a hypothesis that says less.
enum class Relation { same, wider, narrower, exclusive };

struct Form {
  string_view base = {}, third = {}, participle = {};  // of an adjective or a noun, the base alone
};

// Words of one meaning. Ladder: the second is a stronger or narrower first, the third excludes both. Fork: the second
// and the third are kinds of the first and exclude each other. Opposites exclude each other.
enum class FamilyShape { ladder, fork, opposites };
struct Family {
  FamilyShape shape;
  std::array<Form, 3> forms;  // unused ones are empty
  std::size_t size() const { return forms[2].base.empty() ? 2 : 3; }

  Relation relation(std::size_t premise, std::size_t hypothesis) const {
    if (premise == hypothesis) return Relation::same;
    const bool excluded =
        shape == FamilyShape::opposites ||
        (shape == FamilyShape::ladder ? premise == 2 || hypothesis == 2 : premise != 0 && hypothesis != 0);
    if (excluded) return Relation::exclusive;
    return hypothesis == 0 ? Relation::wider : Relation::narrower;
  }
};

constexpr std::array<Family, 12> kStates{{{FamilyShape::ladder, {{{"angry"}, {"furious"}, {"calm"}}}},
                                          {FamilyShape::ladder, {{{"tired"}, {"exhausted"}, {"rested"}}}},
                                          {FamilyShape::ladder, {{{"hungry"}, {"starving"}, {"full"}}}},
                                          {FamilyShape::ladder, {{{"happy"}, {"delighted"}, {"sad"}}}},
                                          {FamilyShape::ladder, {{{"wet"}, {"drenched"}, {"dry"}}}},
                                          {FamilyShape::ladder, {{{"dirty"}, {"filthy"}, {"clean"}}}},
                                          {FamilyShape::ladder, {{{"cold"}, {"freezing"}, {"warm"}}}},
                                          {FamilyShape::ladder, {{{"afraid"}, {"terrified"}, {"fearless"}}}},
                                          {FamilyShape::opposites, {{{"awake"}, {"asleep"}, {}}}},
                                          {FamilyShape::opposites, {{{"alone"}, {"accompanied"}, {}}}},
                                          {FamilyShape::opposites, {{{"healthy"}, {"ill"}, {}}}},
                                          {FamilyShape::opposites, {{{"early"}, {"late"}, {}}}}}};
constexpr std::array<Family, 6> kActions{
    {{FamilyShape::fork, {{{"speak", "speaks"}, {"whisper", "whispers"}, {"shout", "shouts"}}}},
     {FamilyShape::fork, {{{"run", "runs"}, {"sprint", "sprints"}, {"jog", "jogs"}}}},
     {FamilyShape::ladder, {{{"laugh", "laughs"}, {"giggle", "giggles"}, {"cry", "cries"}}}},
     {FamilyShape::ladder, {{{"walk", "walks"}, {"stroll", "strolls"}, {}}}},
     {FamilyShape::ladder, {{{"sleep", "sleeps"}, {"doze", "dozes"}, {}}}},
     {FamilyShape::opposites, {{{"sit", "sits"}, {"stand", "stands"}, {}}}}}};
constexpr std::array<Family, 8> kDeeds{
    {{FamilyShape::ladder, {{{"take", "takes", "taken"}, {"steal", "steals", "stolen"}, {}}}},
     {FamilyShape::ladder,
      {{{"touch", "touches", "touched"}, {"grab", "grabs", "grabbed"}, {"avoid", "avoids", "avoided"}}}},
     {FamilyShape::fork, {{{"move", "moves", "moved"}, {"push", "pushes", "pushed"}, {"pull", "pulls", "pulled"}}}},
     {FamilyShape::ladder, {{{"clean", "cleans", "cleaned"}, {"polish", "polishes", "polished"}, {}}}},
     {FamilyShape::opposites, {{{"buy", "buys", "bought"}, {"sell", "sells", "sold"}, {}}}},
     {FamilyShape::opposites, {{{"hide", "hides", "hidden"}, {"show", "shows", "shown"}, {}}}},
     {FamilyShape::opposites, {{{"lift", "lifts", "lifted"}, {"lower", "lowers", "lowered"}, {}}}},
     {FamilyShape::opposites, {{{"break", "breaks", "broken"}, {"repair", "repairs", "repaired"}, {}}}}}};
// What one does to another.
constexpr std::array<Family, 4> kDealings{
    {{FamilyShape::ladder, {{{"follow", "follows", "followed"}, {"chase", "chases", "chased"}, {}}}},
     {FamilyShape::ladder, {{{"see", "sees", "seen"}, {"watch", "watches", "watched"}, {}}}},
     {FamilyShape::opposites, {{{"greet", "greets", "greeted"}, {"ignore", "ignores", "ignored"}, {}}}},
     {FamilyShape::opposites, {{{"help", "helps", "helped"}, {"hinder", "hinders", "hindered"}, {}}}}}};

// The first is the name of them all.
struct Kin {
  std::array<string_view, 6> nouns, plurals;
};
constexpr std::array<Kin, 2> kBeings{
    {{{"person", "baker", "nurse", "farmer", "teacher", "sailor"},
      {"people", "bakers", "nurses", "farmers", "teachers", "sailors"}},
     {{"animal", "dog", "cat", "horse", "goat", "rabbit"}, {"animals", "dogs", "cats", "horses", "goats", "rabbits"}}}};
constexpr std::array<Kin, 6> kObjects{{{{"fruit", "apple", "pear", "plum", "cherry", "peach"}, {}},
                                       {{"tool", "hammer", "saw", "wrench", "drill", "axe"}, {}},
                                       {{"flower", "rose", "tulip", "lily", "daisy", "violet"}, {}},
                                       {{"vehicle", "car", "truck", "van", "tractor", "bicycle"}, {}},
                                       {{"garment", "coat", "hat", "scarf", "shirt", "jacket"}, {}},
                                       {{"instrument", "violin", "flute", "drum", "trumpet", "harp"}, {}}}};
constexpr std::array<string_view, 6> kModifiers{"old", "young", "tall", "small", "quiet", "strange"};
constexpr std::array<string_view, 6> kPlaces{"kitchen", "garden", "barn", "street", "station", "hall"};
constexpr std::array<string_view, 5> kNumbers{"two", "three", "four", "five", "six"};

// Which part of a sentence a word says; words of both texts that say the same part belong together.
enum Slot {
  kNowhere,
  kQuantity,
  kModifier,
  kSubject,
  kAuxiliary,
  kNot,
  kCopula,
  kPredicate,
  kArticle,
  kObject,
  kIn,
  kPlaceArticle,
  kPlace,
  kStop
};
struct Word {
  std::string text;
  Slot slot;
};

struct Meaning {
  string_view quantity = "the", modifier = {};  // an empty modifier: none
  const Kin* subject = nullptr;
  std::size_t subject_noun = 1;
  bool negative = false, passive = false, plural = false;
  bool state = false;  // "is angry"
  const Family* predicate = nullptr;
  std::size_t form = 0;
  const Kin* object = nullptr;  // none: intransitive
  std::size_t object_noun = 0;
  bool definite_object = false;
  string_view place = {};  // empty: none
};

// A text from its parts.
class Wording {
 public:
  explicit Wording(const Meaning& meaning) : meaning_(meaning) {
    if (meaning_.passive) {
      object();
      verb_to_be();
      add(form().participle, kPredicate);
      add("by", kNowhere);
      subject();
    } else {
      subject();
      active();
    }
    if (!meaning_.place.empty()) {
      add("in", kIn);
      add("the", kPlaceArticle);
      add(meaning_.place, kPlace);
    }
    add(".", kStop);
  }
  const std::vector<Word>& words() const { return words_; }

 private:
  const Form& form() const { return meaning_.predicate->forms[meaning_.form]; }
  void add(string_view text, Slot slot) { words_.push_back({std::string(text), slot}); }
  void subject() {
    add(meaning_.quantity, kQuantity);
    if (!meaning_.modifier.empty()) add(meaning_.modifier, kModifier);
    const Kin& kin = *meaning_.subject;
    add((meaning_.plural ? kin.plurals : kin.nouns)[meaning_.subject_noun], kSubject);
  }
  void object() {
    const string_view noun = meaning_.object->nouns[meaning_.object_noun];
    const bool vowel = string_view("aeiou").find(noun[0]) != string_view::npos;
    add(meaning_.definite_object ? "the" : vowel ? "an" : "a", kArticle);
    add(noun, kObject);
  }
  void verb_to_be() {
    add("is", kCopula);
    if (meaning_.negative) add("not", kNot);
  }
  void active() {
    if (meaning_.state) {
      verb_to_be();
      add(form().base, kPredicate);
      return;
    }
    if (meaning_.negative) {
      add("does", kAuxiliary);
      add("not", kNot);
    }
    add(meaning_.negative || meaning_.plural ? form().base : form().third, kPredicate);
    if (meaning_.object) object();
  }

  const Meaning& meaning_;
  std::vector<Word> words_;
};

// What follows for the hypothesis if its predicate stands so to the premise's.
string_view label_of(Relation relation, bool premise_negative, bool hypothesis_negative) {
  const bool same = relation == Relation::same;
  const bool wider = same || relation == Relation::wider, narrower = same || relation == Relation::narrower;
  if (premise_negative) return !narrower ? "neutral" : hypothesis_negative ? "entailment" : "contradiction";
  if (relation == Relation::exclusive) return hypothesis_negative ? "entailment" : "contradiction";
  return !wider ? "neutral" : hypothesis_negative ? "contradiction" : "entailment";
}

class Teller {
 public:
  explicit Teller(RandomSequence& random) : random_(random) {}

  // A pair with the label; nothing if the first attempt has another, or twice the same text.
  std::optional<GoldExample> pair(string_view wanted) {
    deciding_.clear();
    const string_view label = chance(0.12) ? quantities() : scenes();
    if (label != wanted) return std::nullopt;
    GoldExample example = written(label);
    if (example.texts[0] == example.texts[1]) return std::nullopt;
    return example;
  }

 private:
  bool chance(double share) { return random_.uniform() < share; }
  template <class Range>
  const typename Range::value_type& one_of(const Range& range) {
    return range[random_.below(range.size())];
  }
  // Of a kin, not its name.
  std::size_t any_kind() { return 1 + random_.below(5); }

  // Three dogs run. Some dogs run.
  string_view quantities() {
    premise_ = {};
    premise_.plural = true;
    premise_.subject = &one_of(kBeings);
    premise_.subject_noun = any_kind();
    premise_.predicate = &one_of(kActions);
    premise_.form = random_.below(premise_.predicate->size());
    static constexpr std::array<string_view, 4> kVague{"some", "some", "all", "no"};
    const auto any_quantity = [this] {
      const bool vague = chance(0.5);
      return vague ? one_of(kVague) : one_of(kNumbers);
    };
    premise_.quantity = any_quantity();
    hypothesis_ = premise_;
    hypothesis_.quantity = any_quantity();
    deciding_ = {kQuantity};
    const string_view before = premise_.quantity, after = hypothesis_.quantity;
    if (before == after) return "entailment";
    if (before == "no" || after == "no") return "contradiction";
    if (after == "some") return "entailment";
    return before == "some" || before == "all" || after == "all" ? "neutral" : "contradiction";
  }

  string_view scenes() {
    premise_ = {};
    premise_.subject = &one_of(kBeings);
    premise_.subject_noun = chance(0.2) ? 0 : any_kind();
    if (chance(0.5)) premise_.modifier = one_of(kModifiers);
    const std::uint64_t kind = random_.below(4);
    if (kind == 0) {
      premise_.state = true;
      premise_.predicate = &one_of(kStates);
    } else if (kind == 1) {
      premise_.predicate = &one_of(kActions);
    } else if (kind == 2) {
      premise_.predicate = &one_of(kDeeds);
      premise_.object = &one_of(kObjects);
      premise_.object_noun = random_.below(2) == 0 ? 0 : any_kind();
    } else {
      premise_.predicate = &one_of(kDealings);
      premise_.object = &one_of(kBeings);
      premise_.definite_object = true;
      premise_.subject_noun = any_kind();  // two that are told apart
      do premise_.object_noun = any_kind();
      while (premise_.object == premise_.subject && premise_.object_noun == premise_.subject_noun);
    }
    premise_.form = random_.below(premise_.predicate->size());
    if (kind < 2 && chance(0.4)) premise_.place = one_of(kPlaces);
    if (kind >= 2) premise_.passive = chance(0.2);
    hypothesis_ = premise_;
    if (kind >= 2) hypothesis_.passive = chance(0.4);
    premise_.negative = chance(0.3);
    hypothesis_.negative = chance(0.35);
    return changed();
  }

  // Changes what decides, and what does not.
  string_view changed() {
    const std::uint64_t what = random_.below(6);
    if (what == 0 && narrow_subject()) return "neutral";
    const bool lose_noun = chance(0.2);
    if (lose_noun && premise_.object != premise_.subject) hypothesis_.subject_noun = 0;
    if (!hypothesis_.modifier.empty() && chance(0.5)) hypothesis_.modifier = {};
    if (what == 1 && swap_roles()) return "neutral";
    const Relation relation = what == 2 && premise_.object    ? changed_object()
                              : what == 3 && !premise_.object ? changed_place()
                              : what == 4                     ? Relation::same
                                                              : changed_predicate();
    if (relation == Relation::same) {
      deciding_ = {kSubject, kPredicate};
      if (premise_.object) deciding_.push_back(kObject);
    }
    deciding_.push_back(kNot);
    return label_of(relation, premise_.negative, hypothesis_.negative);
  }

  // The hypothesis knows more of who it is, and says nothing else.
  bool narrow_subject() {
    hypothesis_.negative = premise_.negative;
    if (premise_.subject_noun == 0) {
      hypothesis_.subject_noun = any_kind();
      deciding_ = {kSubject};
      return true;
    }
    if (!premise_.modifier.empty()) return false;
    hypothesis_.modifier = one_of(kModifiers);
    deciding_ = {kModifier};
    return true;
  }
  // The horse chases the dog. The dog chases the horse. Words belong together by what they name.
  bool swap_roles() {
    if (!premise_.definite_object) return false;
    hypothesis_.modifier = {};
    hypothesis_.subject_noun = premise_.subject_noun;
    std::swap(hypothesis_.subject, hypothesis_.object);
    std::swap(hypothesis_.subject_noun, hypothesis_.object_noun);
    hypothesis_.passive = chance(0.5);
    deciding_ = {kSubject, kObject};
    return true;
  }
  Relation changed_predicate() {
    hypothesis_.form = random_.below(premise_.predicate->size());
    deciding_ = {kPredicate};
    return premise_.predicate->relation(premise_.form, hypothesis_.form);
  }
  Relation changed_object() {
    deciding_ = {kObject};
    const bool was_kind = premise_.object_noun != 0;
    hypothesis_.object_noun = was_kind ? 0 : any_kind();
    if (premise_.definite_object) return Relation::same;  // the dog that is chased is the animal that is chased
    return was_kind ? Relation::wider : Relation::narrower;
  }
  Relation changed_place() {
    deciding_ = {kPlace};
    if (!premise_.place.empty()) {
      hypothesis_.place = {};
      return Relation::wider;
    }
    hypothesis_.place = one_of(kPlaces);
    return Relation::narrower;
  }

  GoldExample written(string_view label) const {
    const Wording premise(premise_), hypothesis(hypothesis_);
    GoldExample example{.label = std::string(label), .texts = {text_of(premise), text_of(hypothesis)}};
    // With the roles swapped, the same word is another part.
    const bool swapped = premise_.object && premise_.object == hypothesis_.subject &&
                         premise_.object_noun == hypothesis_.subject_noun && premise_.definite_object;
    const auto belong = [swapped](const Word& a, const Word& b) {
      if (a.slot == kNowhere) return false;
      if (swapped && (a.slot == kSubject || a.slot == kObject)) return a.text == b.text;
      return a.slot == b.slot;
    };
    WordLinks links;
    for (std::size_t p = 0; p < premise.words().size(); ++p)
      for (std::size_t h = 0; h < hypothesis.words().size(); ++h)
        if (belong(premise.words()[p], hypothesis.words()[h])) links.emplace_back(p, h);
    example.links = word_links_text(links);
    add_evidences(example, premise, "0");
    add_evidences(example, hypothesis, "1");
    return example;
  }
  static std::string text_of(const Wording& wording) {
    std::string text;
    for (const Word& word : wording.words()) text += (text.empty() ? "" : " ") + word.text;
    return text;
  }
  void add_evidences(GoldExample& example, const Wording& wording, const char* text) const {
    for (std::size_t i = 0; i < wording.words().size(); ++i) {
      const Word& word = wording.words()[i];
      if (std::find(deciding_.begin(), deciding_.end(), word.slot) == deciding_.end()) continue;
      const auto at = static_cast<Index>(i);
      example.evidences.push_back({word.text, text, at, at + 1, 0, 1});
    }
  }

  RandomSequence& random_;
  Meaning premise_, hypothesis_;
  std::vector<Slot> deciding_;
};

}  // namespace

std::vector<GoldExample> generate_inference_pairs(Index count, std::uint64_t seed) {
  require(count > 0 && count <= 1'000'000, "[inference] {} pairs are asked for; 1 to 1000000 can be had", count);
  constexpr std::array<string_view, 3> kLabels{"entailment", "neutral", "contradiction"};
  RandomSequence random(RandomKey{seed}.derive("inference"));
  Teller teller(random);
  std::unordered_set<std::string> seen;
  std::vector<GoldExample> examples;
  while (static_cast<Index>(examples.size()) < count) {
    const string_view label = kLabels[random.below(kLabels.size())];
    std::optional<GoldExample> example;
    while (!example) example = teller.pair(label);
    if (seen.insert(example->texts[0] + "\t" + example->texts[1]).second) examples.push_back(std::move(*example));
  }
  return examples;
}

}  // namespace heed
