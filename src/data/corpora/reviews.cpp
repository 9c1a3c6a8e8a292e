#include "heed/data/corpora/reviews.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

using std::string_view;
template <std::size_t N>
using Texts = std::array<string_view, N>;

// In a sentence below, $thing and the like are filled in, and * stands before a word that decides.

constexpr Texts<9> kPraises{"excellent",  "wonderful", "pleasant",  "superb",  "splendid",
                            "delightful", "lovely",    "brilliant", "charming"};
constexpr Texts<9> kBlames{"awful", "terrible",  "dreadful", "poor",  "disappointing",
                           "dull",  "miserable", "horrible", "shabby"};

constexpr Texts<6> kPlainVerdicts{"all in all the $thing was *$word .",
                                  "i found the $thing *$word .",
                                  "we left with the feeling that the $thing was *$word .",
                                  "in the end we called it *$word .",
                                  "for what it costs the $thing is *$word .",
                                  "i would call this $thing *$word ."};
constexpr Texts<7> kNegatedVerdicts{"all in all the $thing was *not *$word .",
                                    "i did *not find the $thing *$word .",
                                    "we left with the feeling that the $thing was *never *$word .",
                                    "in the end *nobody called it *$word .",
                                    "for what it costs the $thing is *hardly *$word .",
                                    "all in all the $thing was *far *from *$word .",
                                    "i would *never call this $thing *$word ."};
constexpr Texts<5> kOpenVerdicts{
    "i can *not *say *whether the $thing was $word or $other .", "we still *wonder *if the $thing was $word .",
    "i would *not *know *whether to call this $thing $word .", "in the end nobody could *say *whether it was $word .",
    "it is too *early to *say *if the $thing is $word ."};

// Opinions about something else.
constexpr Texts<14> kHearsay{"my $who has another $thing and finds it $word .",
                             "my $who has another $thing and does not find it $word .",
                             "the $thing of my $who was $word .",
                             "the $thing of my $who was never $word .",
                             "a different $thing that we tried in $month was $word .",
                             "a different $thing that we tried in $month was not $word .",
                             "people in the next street called theirs $word .",
                             "nobody in the next street called theirs $word .",
                             "my $who still wonders if the old one was $word .",
                             "my $who can not say whether the old one was $word or $other .",
                             "a $thing in another town is said to be $word .",
                             "a $thing in another town is said to be far from $word .",
                             "my $who would call the old one $word .",
                             "my $who would hardly call the old one $word ."};

// Nothing about quality, in any review.
constexpr Texts<16> kNeutral{"we did not take the bus .",
                             "my $who came along on $day .",
                             "it rained for most of $month .",
                             "nobody sat near the window .",
                             "the station is far from the river .",
                             "there was hardly any traffic on $day .",
                             "they asked whether we had come by train .",
                             "a sign by the door tells you if it is open .",
                             "i had never been there before $month .",
                             "i do not know who owns it .",
                             "we wonder how old the building is .",
                             "it was early and the streets were empty .",
                             "my $who took $number pictures .",
                             "we paid by card and left at noon .",
                             "the colour on the front is $colour .",
                             "you can say hello to the owner on $day ."};

struct Domain {
  Texts<6> things;
  Texts<3> openings;
  Texts<9> neutral;
};
constexpr std::array<Domain, 4> kDomains{
    {{{"restaurant", "bistro", "tavern", "canteen", "diner", "teahouse"},
      {"we ate at the $name $thing on $day .", "the $name $thing opened in $month .",
       "my $who took us to the $name $thing ."},
      {"the menu has $number dishes .", "i ordered the soup and the fish .", "the tables are made of $colour wood .",
       "lunch is served until three .", "my $who had the rice with beans .",
       "there are $number chairs on the terrace .", "the cook comes from the coast .", "they close on $day .",
       "the bread is baked next door ."}},
     {{"film", "comedy", "thriller", "drama", "western", "musical"},
      {"on $day we watched the $thing called $name .", "the $thing called $name came out in $month .",
       "my $who chose the $thing called $name ."},
      {"it runs for $number hours .", "the story begins on a $colour ship .", "the main part is played by a newcomer .",
       "most scenes take place in a harbour .", "the music was recorded in $month .",
       "there were $number people in the hall .", "it is based on a book about a lighthouse .",
       "the second half is set in winter .", "it was shown again on $day ."}},
     {{"drill", "lamp", "kettle", "saw", "toaster", "heater"},
      {"i bought the $name $thing in $month .", "the $name $thing arrived on $day .",
       "my $who gave me the $name $thing ."},
      {"the box holds $number parts .", "the cable is two metres long .", "it comes in $colour and in grey .",
       "the handle is made of plastic .", "it weighs $number pounds .", "the manual is printed in $number languages .",
       "i keep it in the shed .", "the switch is on the left side .", "my $who uses it on $day ."}},
     {{"hotel", "inn", "guesthouse", "hostel", "lodge", "cabin"},
      {"we spent $number nights at the $name $thing .", "we reached the $name $thing on $day .",
       "my $who booked the $name $thing for $month ."},
      {"our room was on floor $number .", "the window looks at the $colour church .", "breakfast starts at seven .",
       "the lift is next to the stairs .", "there are $number beds in each room .", "the beach is a mile away .",
       "the garden is behind the house .", "my $who slept on the sofa .", "the keys are at the desk until $day ."}}}};

constexpr Texts<24> kNames{"karlin", "velda",   "brunnel", "tessaro", "ostrell",  "milwick", "pandrel", "quillon",
                           "rosmer", "sandrel", "tiverly", "ulmen",   "wexcombe", "yarwick", "zandt",   "amberly",
                           "borwin", "corvall", "dunmere", "elswick", "farrick",  "gildern", "harnau",  "ilmered"};
constexpr Texts<7> kDays{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
constexpr Texts<8> kMonths{"january", "february", "april", "june", "july", "august", "october", "november"};
constexpr Texts<8> kPeople{"sister", "brother", "uncle", "aunt", "neighbour", "cousin", "colleague", "friend"};
constexpr Texts<7> kReviewNumbers{"two", "three", "four", "five", "six", "eight", "nine"};
constexpr Texts<6> kColours{"red", "blue", "green", "yellow", "white", "brown"};

struct ReviewSentence {
  std::vector<std::string> words;
  std::vector<std::size_t> deciding;  // places of words
};

class Reviewer {
 public:
  explicit Reviewer(RandomSequence& random) : random_(random) {}

  GoldExample review() {
    constexpr Texts<3> kLabels{"good", "bad", "open"};
    const std::size_t label = random_.below(kLabels.size());
    const Domain& domain = one_of(kDomains);
    thing_ = one_of(domain.things);
    const auto length = kReviewShortest + random_.below(kReviewLongest - kReviewShortest + 1);
    std::vector<ReviewSentence> rest = {verdict(label), hearsay()};
    if (length > 4 && chance(0.5)) rest.push_back(hearsay());
    std::vector<string_view> neutral(kNeutral.begin(), kNeutral.end());
    neutral.insert(neutral.end(), domain.neutral.begin(), domain.neutral.end());
    while (rest.size() + 1 < length) {
      const std::size_t chosen = random_.below(neutral.size());
      rest.push_back(filled(neutral[chosen]));
      neutral.erase(neutral.begin() + static_cast<std::ptrdiff_t>(chosen));  // none twice
    }
    for (std::size_t i = rest.size(); i > 1; --i) std::swap(rest[i - 1], rest[random_.below(i)]);
    rest.insert(rest.begin(), filled(one_of(domain.openings)));
    return written(kLabels[label], rest);
  }

 private:
  bool chance(double share) { return random_.uniform() < share; }
  template <class Range>
  const typename Range::value_type& one_of(const Range& range) {
    return range[random_.below(range.size())];
  }

  ReviewSentence verdict(std::size_t label) {
    if (label == 2) {
      any_opinion();
      return filled(one_of(kOpenVerdicts));
    }
    const bool negated = chance(0.5);
    word_ = one_of((label == 0) != negated ? kPraises : kBlames);
    return filled(negated ? one_of(kNegatedVerdicts) : one_of(kPlainVerdicts));
  }
  ReviewSentence hearsay() {
    any_opinion();
    return filled(one_of(kHearsay));
  }
  void any_opinion() {
    const bool praise = chance(0.5);
    word_ = one_of(praise ? kPraises : kBlames);
    other_ = one_of(praise ? kBlames : kPraises);
  }

  ReviewSentence filled(string_view pattern) {
    ReviewSentence sentence;
    for (string_view word : words_of_line(pattern)) {
      if (word.starts_with('*')) {
        sentence.deciding.push_back(sentence.words.size());
        word.remove_prefix(1);
      }
      sentence.words.emplace_back(word.starts_with('$') ? filling(word.substr(1)) : word);
    }
    return sentence;
  }
  string_view filling(string_view slot) {
    if (slot == "thing") return thing_;
    if (slot == "word") return word_;
    if (slot == "other") return other_;
    if (slot == "name") return one_of(kNames);
    if (slot == "day") return one_of(kDays);
    if (slot == "month") return one_of(kMonths);
    if (slot == "who") return one_of(kPeople);
    if (slot == "number") return one_of(kReviewNumbers);
    return one_of(kColours);
  }

  static GoldExample written(string_view label, const std::vector<ReviewSentence>& sentences) {
    GoldExample example{.label = std::string(label), .texts = {""}};
    std::string& text = example.texts.front();
    Index token = 0;
    for (std::size_t s = 0; s < sentences.size(); ++s) {
      const auto number = static_cast<Index>(s);
      for (const std::size_t place : sentences[s].deciding) {
        const Index at = token + static_cast<Index>(place);
        const std::string& word = sentences[s].words[place];
        if (!example.evidences.empty() && example.evidences.back().end_token == at) {
          example.evidences.back().text += " " + word;
          ++example.evidences.back().end_token;
        } else {
          example.evidences.push_back({word, "0", at, at + 1, number, number + 1});
        }
      }
      text += fmt::format("{}{}", s == 0 ? "" : " ", fmt::join(sentences[s].words, " "));
      token += static_cast<Index>(sentences[s].words.size());
    }
    return example;
  }

  RandomSequence& random_;
  string_view thing_, word_, other_;
};

}  // namespace

std::vector<GoldExample> generate_reviews(Index count, std::uint64_t seed) {
  require(count > 0 && count <= 1'000'000, "[reviews] {} documents are asked for; 1 to 1000000 can be had", count);
  RandomSequence random(RandomKey{seed}.derive("reviews"));
  std::unordered_set<std::string> seen;
  std::vector<GoldExample> examples;
  while (static_cast<Index>(examples.size()) < count) {
    GoldExample example = Reviewer(random).review();
    if (seen.insert(example.texts.front()).second) examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace heed
