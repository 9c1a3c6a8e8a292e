#include "heed/data/corpora/headlines.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

using std::string_view;

// In the sentences below, words with $ are filled in. Those of the news, $who, $did, $what and $where, are the ones
// that the headline is made of; all others are drawn anew wherever they stand.

constexpr std::array kNews{
    string_view("on $day the $role $who $did a $kind $what in $where ."),
    string_view("the $role $who $did a $kind $what in $where on $day ."),
    string_view("a $kind $what was $done by the $role $who in $where ."),
    string_view("in $where the $kind $what was $done on $day by $who , a $role ."),
    string_view("friends say that $who , a $role from $place , $did a $kind $what in $where ."),
    string_view("in $where $who , who is a $role , $did a $what ."),
};
constexpr std::array kOthers{
    string_view("$name , the $role of $place , was not there ."),
    string_view("$name was born in $place ."),
    string_view("many people came from $place ."),
    string_view("the $role $name could not be reached on $day ."),
    string_view("$name said it was a good $day ."),
    string_view("a cousin of $name owns a $kind $thing in $place ."),
    string_view("the $thing of $place is open on $day ."),
    string_view("it rained in $place all $day ."),
    string_view("nobody asked the $role $name ."),
};

// What is done: in the past, as the passive has it, in a headline; and to what.
struct Event {
  string_view did, done, does;
  std::array<string_view, 4> what;
};
constexpr std::array kEvents{
    Event{"opened", "opened", "opens", {"gallery", "school", "bakery", "hotel"}},
    Event{"bought", "bought", "buys", {"farm", "castle", "boat", "mill"}},
    Event{"built", "built", "builds", {"bridge", "tower", "harbour", "house"}},
    Event{"found", "found", "finds", {"painting", "coin", "letter", "map"}},
    Event{"wrote", "written", "writes", {"book", "song", "opera", "poem"}},
    Event{"stole", "stolen", "steals", {"horse", "clock", "painting", "boat"}},
    Event{"sold", "sold", "sells", {"farm", "house", "castle", "clock"}},
    Event{"repaired", "repaired", "repairs", {"bridge", "clock", "mill", "organ"}},
    Event{"drew", "drawn", "draws", {"map", "horse", "tower", "harbour"}},
    Event{"lost", "lost", "loses", {"letter", "coin", "horse", "book"}},
};
constexpr std::array kRoles{string_view("painter"), string_view("mayor"),   string_view("doctor"),
                            string_view("singer"),  string_view("farmer"),  string_view("baker"),
                            string_view("sailor"),  string_view("teacher"), string_view("pilot")};
constexpr std::array kKinds{string_view("small"), string_view("large"), string_view("famous"), string_view("new"),
                            string_view("white")};
constexpr std::array kWeekdays{string_view("monday"),   string_view("tuesday"), string_view("wednesday"),
                               string_view("thursday"), string_view("friday"),  string_view("saturday")};
constexpr std::array kSyllables{
    string_view("ba"),  string_view("kel"), string_view("dro"), string_view("fin"), string_view("go"),
    string_view("hu"),  string_view("jar"), string_view("lim"), string_view("mo"),  string_view("nes"),
    string_view("pru"), string_view("ra"),  string_view("sti"), string_view("tor"), string_view("ve"),
    string_view("wan"), string_view("zi"),  string_view("cho"), string_view("qua"), string_view("dy"),
    string_view("ox"),  string_view("ar"),  string_view("el"),  string_view("im"),  string_view("un")};
constexpr std::array kPlaceEndings{string_view("ton"), string_view("burg"), string_view("ford"), string_view("wick")};

template <class List>
const auto& one_of(const List& list, RandomSequence& random) {
  return list[random.below(list.size())];
}

std::string made_up_name(RandomSequence& random) {
  std::string name;
  for (int i = 0; i < 3; ++i) name += one_of(kSyllables, random);
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return name;
}

// A text in the making.
class News {
 public:
  explicit News(RandomSequence& random) : random_(random), event_(one_of(kEvents, random)) {
    facts_["$who"] = made_up_name(random);
    facts_["$where"] = place();
    facts_["$did"] = event_.did, facts_["$done"] = event_.done;
    facts_["$what"] = one_of(event_.what, random);
  }

  HeadlinePair pair() {
    HeadlinePair result;
    result.sentences = 2 + static_cast<Index>(random_.below(2));
    result.sentence = static_cast<Index>(random_.below(static_cast<std::uint64_t>(result.sentences)));
    for (Index i = 0; i < result.sentences; ++i)
      add_sentence(i == result.sentence ? one_of(kNews, random_) : one_of(kOthers, random_));
    const std::array<std::pair<std::string, std::string>, 4> headline{{{facts_["$who"], "$who"},
                                                                       {std::string(event_.does), "$did"},
                                                                       {facts_["$what"], "$what"},
                                                                       {facts_["$where"], "$where"}}};
    std::vector<std::string> words, links;
    for (const auto& [word, slot] : headline) {
      if (slot == "$where") words.emplace_back("in");
      links.push_back(fmt::format("{}-{}", places_.at(slot), words.size()));
      words.push_back(word);
    }
    result.text = fmt::format("{}", fmt::join(words_, " "));
    result.headline = fmt::format("{}", fmt::join(words, " "));
    result.links = fmt::format("{}", fmt::join(links, " "));
    return result;
  }

 private:
  std::string place() { return made_up_name(random_) + std::string(one_of(kPlaceEndings, random_)); }

  std::string filled(string_view word) {
    if (const auto fact = facts_.find(word); fact != facts_.end()) return fact->second;
    if (word == "$name") return made_up_name(random_);
    if (word == "$place") return place();
    if (word == "$role") return std::string(one_of(kRoles, random_));
    if (word == "$kind") return std::string(one_of(kKinds, random_));
    if (word == "$day") return std::string(one_of(kWeekdays, random_));
    if (word == "$thing") return std::string(one_of(one_of(kEvents, random_).what, random_));
    return std::string(word);
  }

  void add_sentence(string_view sentence) {
    for (const string_view word : words_of_line(sentence)) {
      // The headline's verb comes from either form of it.
      if (facts_.contains(word)) places_[word == "$done" ? "$did" : std::string(word)] = words_.size();
      words_.push_back(filled(word));
    }
  }

  RandomSequence& random_;
  const Event& event_;
  std::map<std::string, std::string, std::less<>> facts_;
  std::map<std::string, std::size_t, std::less<>> places_;  // of the facts among the words
  std::vector<std::string> words_;
};

}  // namespace

std::vector<HeadlinePair> generate_headlines(Index count, std::uint64_t seed) {
  require(count > 0, "[headlines] {} texts make no corpus", count);
  std::vector<HeadlinePair> pairs;
  std::unordered_set<std::string> seen;
  RandomSequence random(RandomKey{seed}.derive("headlines"));
  while (static_cast<Index>(pairs.size()) < count) {
    HeadlinePair pair = News(random).pair();
    if (seen.insert(pair.text).second) pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace heed
