#include "heed/data/corpora/cloze.h"

#include <algorithm>
#include <array>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"
#include "heed/data/blank.h"
#include "heed/data/sentences.h"
#include "heed/data/text_file.h"
#include "heed/data/word_cutting.h"

namespace heed {
namespace {

using ClozeSentence = std::vector<std::string>;

constexpr std::array kArticles = std::to_array<std::string_view>(
    {"the",  "a",     "an",   "my", "your", "his",  "her",  "its",  "our",  "their", "this",
     "that", "every", "no",   "的", "个",   "这个", "那个", "一个", "每个", "各",    "该",
     "种",   "这种",  "一种", "只", "位",   "条",   "座",   "棵",   "头"});
constexpr double kNounShare = 0.2;
constexpr Index kLeastSeen = 5;  // a rarer word could be anything
constexpr std::array<const char*, 3> kClozeFiles{"train.jsonl", "valid.jsonl", "test.jsonl"};

std::vector<ClozeSentence> sentences_of(std::string_view text, WordCutting cutting) {
  std::vector<ClozeSentence> sentences;
  std::size_t begin = 0;
  for (const std::size_t end : sentence_ends(text)) {
    const std::string_view sentence = text.substr(begin, end - begin);
    ClozeSentence& words = sentences.emplace_back();
    cut_words(cutting, sentence, [&](std::string_view, std::size_t from, std::size_t to) {
      words.emplace_back(sentence.substr(from, to - from));
    });
    begin = end;
  }
  return sentences;
}

bool is_of_letters(std::string_view word) {
  std::size_t characters = 0;
  for (const Character& c : Characters(word)) {
    if (!is_small_letter(c.code) && !is_capital_letter(c.code) && !is_ideographic(c.code)) return false;
    ++characters;
  }
  return characters > 1;
}
bool is_capitalised(std::string_view word) { return is_capital_letter(Characters(word).begin()->code); }

// What is counted over all texts before the first question is made.
class ClozeWords {
 public:
  explicit ClozeWords(const std::string& kind) : kind_(kind) {
    require(kind == "names" || kind == "nouns" || kind == "any", "--words: {} is none of names, nouns and any", kind);
  }
  void count(std::span<const ClozeSentence> sentences) {
    if (kind_ != "nouns") return;
    for (const ClozeSentence& sentence : sentences)
      for (std::size_t i = 0; i < sentence.size(); ++i) {
        Seen& seen = seen_[sentence[i]];
        ++seen.all;
        if (i > 0 && std::ranges::find(kArticles, lowercased(sentence[i - 1])) != kArticles.end()) ++seen.behind;
      }
  }
  // The places of words of the kind in each sentence; of names those that are names in these sentences.
  std::vector<std::vector<std::size_t>> places(std::span<const ClozeSentence> sentences) const {
    std::set<std::string_view> small, inside;  // for names
    if (kind_ == "names")
      for (const ClozeSentence& sentence : sentences)
        for (std::size_t i = 0; i < sentence.size(); ++i) {
          if (!is_of_letters(sentence[i])) continue;
          if (!is_capitalised(sentence[i]))
            small.insert(sentence[i]);
          else if (i > 0 && is_of_letters(sentence[i - 1]))
            inside.insert(sentence[i]);
        }
    std::vector<std::vector<std::size_t>> places;
    for (const ClozeSentence& sentence : sentences) {
      places.emplace_back();
      for (std::size_t i = 0; i < sentence.size(); ++i) {
        const std::string& word = sentence[i];
        if (!is_of_letters(word)) continue;
        if (kind_ == "names" ? inside.contains(word) && !small.contains(lowercased(word))
                             : kind_ == "any" || is_noun(word))
          places.back().push_back(i);
      }
    }
    return places;
  }

 private:
  struct Seen {
    Index all = 0, behind = 0;
  };
  bool is_noun(const std::string& word) const {
    if (is_capitalised(word)) return false;
    const auto found = seen_.find(word);
    return found != seen_.end() && found->second.all >= kLeastSeen &&
           static_cast<double>(found->second.behind) >= kNounShare * static_cast<double>(found->second.all);
  }

  std::string kind_;
  std::unordered_map<std::string, Seen> seen_;
};

template <class T>
void shuffle_words(std::vector<T>& items, RandomSequence& random) {
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.below(left)]);
}

// The question of a window, whose last sentence asks; empty if none can be made.
std::string question_of(std::span<const ClozeSentence> window, const ClozeWords& kinds, const ClozeOptions& options,
                        RandomSequence& random) {
  const std::vector<std::vector<std::size_t>> places = kinds.places(window);
  std::set<std::string> words;  // of the kind, before the question
  std::string document;
  for (std::size_t s = 0; s + 1 < window.size(); ++s) {
    for (const std::size_t place : places[s]) words.insert(window[s][place]);
    document += fmt::format("{}{}", s == 0 ? "" : " ", fmt::join(window[s], " "));
  }
  ClozeSentence asked = window.back();
  std::vector<std::size_t> possible;
  for (const std::size_t place : places.back())
    if (words.contains(asked[place]) && std::count(asked.begin(), asked.end(), asked[place]) == 1)
      possible.push_back(place);
  // What looks like a blank in the text itself would be a second one.
  if (possible.empty() || static_cast<Index>(words.size()) < options.candidates ||
      with_blank(fmt::format("{}", fmt::join(asked, " "))).blanks > 0)
    return "";
  const std::size_t place = possible[random.below(possible.size())];
  const std::string answer = std::exchange(asked[place], std::string(kBlank));
  const std::string question = fmt::format("{}", fmt::join(asked, " "));
  if (options.with_question) document += " " + question;
  nlohmann::ordered_json json{{"document", document}, {"question", question}, {"answer", answer}};
  if (options.candidates > 0) {
    words.erase(answer);
    std::vector<std::string> choices(words.begin(), words.end());
    shuffle_words(choices, random);
    choices.resize(static_cast<std::size_t>(options.candidates) - 1);
    choices.push_back(answer);
    shuffle_words(choices, random);
    json["choices"] = choices;
  }
  return json.dump() + "\n";
}

template <class Use>
void each_text(const std::vector<std::string>& files, const Use& use) {
  for (const std::string& file : files) {
    LineReader reader(file);
    for (std::string line; reader.next(line);) {
      require(valid_utf8(line), "{}, line {}: it is not valid UTF-8", file, reader.number());
      use(line);
    }
  }
}

void write_parts(const ClozeOptions& options, const std::array<std::string, 3>& parts) {
  std::error_code reason;
  std::filesystem::create_directories(options.folder, reason);
  require(!reason, "{}: cannot make the folder: {}", options.folder.string(), reason.message());
  std::deque<AtomicFile> files;
  for (std::size_t i = 0; i < kClozeFiles.size(); ++i)
    files.emplace_back(options.folder / kClozeFiles[i]).write(parts[i]);
  for (AtomicFile& file : files) file.commit();
}

}  // namespace

ClozeCounts write_cloze(const ClozeOptions& options) {
  require(options.sentences > 0 && options.candidates >= 0 && options.candidates != 1 && options.step >= 0,
          "[cloze] {} sentences, {} candidates and a step of {} make no question", options.sentences,
          options.candidates, options.step);
  require(options.valid >= 0 && options.test >= 0 && options.valid + options.test < 1,
          "[corpus] shares of {} and {} for validation and test leave nothing for training", options.valid,
          options.test);
  for (const char* part : kClozeFiles)
    require(options.force || !std::filesystem::exists(options.folder / part),
            "{}: it is there already; --force replaces it", (options.folder / part).string());
  require(options.cut == "tokens" || options.cut == "blanks", "--cut: {} is neither tokens nor blanks", options.cut);
  const WordCutting cutting = options.cut == "tokens" ? WordCutting::tokens : WordCutting::white_space;
  ClozeWords kinds(options.words);
  each_text(options.files, [&](const std::string& text) { kinds.count(sentences_of(text, cutting)); });

  ClozeCounts counts;
  std::array<std::string, 3> parts;
  std::array<Index*, 3> count_of{&counts.train, &counts.valid, &counts.test};
  const auto length = static_cast<std::size_t>(options.sentences) + 1;
  const auto step = options.step > 0 ? static_cast<std::size_t>(options.step) : length;
  each_text(options.files, [&](const std::string& text) {
    const std::vector<ClozeSentence> sentences = sentences_of(text, cutting);
    ++counts.texts;
    if (sentences.size() < length) ++counts.short_texts;
    RandomSequence random(RandomKey{options.seed, RandomKey{}.derive(text).stream});
    const double place = random.uniform();
    const std::size_t part = place < options.valid ? 1 : place < options.valid + options.test ? 2 : 0;
    for (std::size_t begin = 0; begin + length <= sentences.size(); begin += step) {
      const std::string line = question_of(std::span(sentences).subspan(begin, length), kinds, options, random);
      parts[part] += line;
      if (!line.empty()) ++*count_of[part];
    }
  });
  require(counts.train > 0, "[cloze] no question can be made of {} texts, {} of which have fewer than {} sentences",
          counts.texts, counts.short_texts, length);
  write_parts(options, parts);
  return counts;
}

}  // namespace heed
