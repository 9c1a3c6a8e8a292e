#include "heed/data/corpora/stories.h"

#include <array>
#include <string_view>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

using std::string_view;

// In a sentence below, $who, $thing and $place are filled in.
constexpr std::array<string_view, 6> kStoryDeeds{
    "$who carried the $thing to the $place .",       "the $thing was brought to the $place by $who .",
    "$who took the $thing and went to the $place .", "in the $place you will find the $thing of $who .",
    "$who left the $thing in the $place .",          "it was $who who put the $thing into the $place ."};
constexpr std::array<string_view, 10> kAsides{"$who whistled an old song .",    "$who was tired that day .",
                                              "the others waited for $who .",   "$who had slept very little .",
                                              "it was cold and $who knew it .", "nobody had seen $who before noon .",
                                              "$who talked about the rain .",   "somebody gave $who some bread .",
                                              "$who wore a green coat .",       "a dog ran after $who for a while ."};
struct StoryQuestion {
  string_view text;
  string_view slot;  // that is asked for
};
constexpr std::array<StoryQuestion, 6> kStoryQuestions{{{"you should look for the $thing in the XXXXX .", "$place"},
                                                        {"whoever wants the $thing must go to the XXXXX .", "$place"},
                                                        {"the one who moved the $thing was XXXXX .", "$who"},
                                                        {"ask XXXXX how the $thing came to the $place .", "$who"},
                                                        {"what $who moved that morning was the XXXXX .", "$thing"},
                                                        {"in the $place there is now the XXXXX .", "$thing"}}};

constexpr std::array<string_view, 16> kNameBeginnings{"al",  "ber", "cor", "dar", "el", "fin", "gor", "hel",
                                                      "jor", "kal", "lin", "mar", "ne", "os",  "ral", "tor"};
constexpr std::array<string_view, 12> kNameEndings{"bin",  "da", "dric", "ga",  "la", "lo",
                                                   "mund", "na", "nis",  "ric", "sa", "wen"};
constexpr std::array<string_view, 36> kStoryThings{
    "lamp",   "kettle", "ladder", "basket", "blanket", "bottle", "bucket",  "candle", "carpet",
    "chair",  "clock",  "coin",   "drum",   "flute",   "hammer", "helmet",  "kite",   "letter",
    "mirror", "needle", "paddle", "parcel", "pillow",  "plate",  "ring",    "rope",   "saddle",
    "shovel", "spoon",  "stool",  "sword",  "table",   "tent",   "trumpet", "violin", "wheel"};
constexpr std::array<string_view, 30> kStoryPlaces{
    "attic",   "barn",   "bakery",  "bridge", "castle",  "cave",    "cellar",  "chapel", "cottage", "dairy",
    "forest",  "garden", "harbour", "island", "kitchen", "library", "market",  "meadow", "mill",    "office",
    "orchard", "palace", "pantry",  "prison", "school",  "stable",  "station", "temple", "tower",   "village"};

struct StoryDeed {
  std::string who;
  string_view thing, place;
};

class Storyteller {
 public:
  explicit Storyteller(RandomSequence& random) : random_(random) {}

  GoldExample story() {
    const std::vector<StoryDeed> deeds = different_deeds(3 + random_.below(2));
    const std::size_t length = kStoryShortest + random_.below(kStoryLongest - kStoryShortest + 1);
    std::vector<std::string> sentences;
    sentences.reserve(std::max(deeds.size(), length));
    for (const StoryDeed& deed : deeds) sentences.push_back(filled(one_of(kStoryDeeds), deed));
    std::vector<string_view> asides(kAsides.begin(), kAsides.end());
    while (sentences.size() < length) {
      const std::size_t chosen = random_.below(asides.size());
      sentences.push_back(filled(asides[chosen], one_of(deeds)));
      asides.erase(asides.begin() + static_cast<std::ptrdiff_t>(chosen));  // none twice
    }
    const std::string answering = sentences.front();  // the first deed is asked about
    for (std::size_t i = sentences.size(); i > 1; --i) std::swap(sentences[i - 1], sentences[random_.below(i)]);
    const StoryQuestion& question = one_of(kStoryQuestions);
    return written(sentences, answering, filled(question.text, deeds.front()), filled(question.slot, deeds.front()));
  }

 private:
  template <class Range>
  const typename Range::value_type& one_of(const Range& range) {
    return range[random_.below(range.size())];
  }

  // No two of them share a person, a thing or a place.
  std::vector<StoryDeed> different_deeds(std::size_t count) {
    std::vector<StoryDeed> deeds;
    std::unordered_set<std::string> used;
    while (deeds.size() < count) {
      StoryDeed deed{std::string(one_of(kNameBeginnings)) + std::string(one_of(kNameEndings)), one_of(kStoryThings),
                     one_of(kStoryPlaces)};
      if (used.contains(deed.who) || used.contains(std::string(deed.thing)) || used.contains(std::string(deed.place)))
        continue;
      used.insert({deed.who, std::string(deed.thing), std::string(deed.place)});
      deeds.push_back(std::move(deed));
    }
    return deeds;
  }

  static std::string filled(string_view pattern, const StoryDeed& deed) {
    std::vector<string_view> words = words_of_line(pattern);
    for (string_view& word : words)
      word = word == "$who" ? deed.who : word == "$thing" ? deed.thing : word == "$place" ? deed.place : word;
    return fmt::format("{}", fmt::join(words, " "));
  }

  static GoldExample written(const std::vector<std::string>& sentences, const std::string& answering,
                             const std::string& question, const std::string& answer) {
    GoldExample example{.label = answer, .texts = {fmt::format("{}", fmt::join(sentences, " ")), question}};
    Index token = 0;
    for (std::size_t s = 0; s < sentences.size(); ++s) {
      const auto words = static_cast<Index>(words_of_line(sentences[s]).size()), number = static_cast<Index>(s);
      if (sentences[s] == answering)
        example.evidences.push_back({sentences[s], "0", token, token + words, number, number + 1});
      token += words;
    }
    return example;
  }

  RandomSequence& random_;
};

}  // namespace

std::vector<GoldExample> generate_stories(Index count, std::uint64_t seed) {
  require(count > 0 && count <= 1'000'000, "[stories] {} stories are asked for; 1 to 1000000 can be had", count);
  RandomSequence random(RandomKey{seed}.derive("stories"));
  std::unordered_set<std::string> seen;
  std::vector<GoldExample> examples;
  while (static_cast<Index>(examples.size()) < count) {
    GoldExample example = Storyteller(random).story();
    if (seen.insert(example.texts.front()).second) examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace heed
