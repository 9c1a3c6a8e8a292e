#include "heed/jobs/choices.h"

#include <algorithm>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/blank.h"

namespace heed {
namespace {

// A word of a text and the pieces [first, last) that it is cut into.
struct CutWord {
  std::string_view text;
  TextPlace place;
  std::size_t first = 0, last = 0;
};

// The words that `pieces`, the first ones of the text, make.
std::vector<CutWord> cut_into_words(const Vocabulary& vocabulary, std::string_view text,
                                    std::span<const std::int32_t> pieces) {
  std::vector<std::size_t> bytes{0};  // before each character
  for (const Character& character : Characters(text)) bytes.push_back(bytes.back() + character.bytes.size());
  const std::vector<TextPlace> places = vocabulary.places(text);
  const std::vector<Index> word_of = vocabulary.word_of(pieces);
  std::vector<CutWord> words;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i == 0 || word_of[i] != word_of[i - 1]) words.push_back({{}, places[i], i, i});
    CutWord& word = words.back();
    word.last = i + 1;
    if (places[i].begin == places[i].end) continue;
    if (word.place.begin == word.place.end) word.place.begin = places[i].begin;
    word.place.end = places[i].end;
  }
  for (CutWord& word : words) {
    const auto begin = static_cast<std::size_t>(word.place.begin), end = static_cast<std::size_t>(word.place.end);
    word.text = text.substr(bytes[begin], bytes[end] - bytes[begin]);
  }
  return words;
}

// Every different word is a choice. A blank is none: the Chinese sets leave the question in its document, and a reader
// would answer with what stands in the question. Where there is nothing else, it is one.
std::vector<Choice> mark_words(std::span<const CutWord> words, EncodedInput& document) {
  const bool blank_alone = std::ranges::all_of(words, [](const CutWord& word) { return word.text == kBlank; });
  std::unordered_map<std::string_view, std::int32_t> numbers;
  std::vector<Choice> choices;
  for (const CutWord& word : words) {
    if (word.text.empty() || (word.text == kBlank && !blank_alone)) continue;
    const auto [known, is_new] = numbers.try_emplace(word.text, static_cast<std::int32_t>(choices.size()));
    if (is_new) choices.push_back({std::string(word.text), word.place.begin, word.place.end});
    for (std::size_t i = word.first; i < word.last; ++i) document.marks[i] = known->second;
  }
  return choices;
}

// The given ones, of one word or of several; where they overlap, the longer one counts.
std::vector<Choice> mark_options(const Vocabulary& vocabulary, const std::vector<std::string>& options,
                                 std::span<const CutWord> words, EncodedSample& encoded) {
  std::vector<Choice> choices;
  std::vector<std::vector<std::string_view>> sequences;
  std::unordered_map<std::string_view, std::vector<std::size_t>> beginning_with;
  for (const std::string& option : options) {
    const std::vector<std::int32_t> pieces = vocabulary.encode(option);
    if (pieces.empty()) throw UnreadableInput("a choice is empty");
    EncodedInput& all = encoded.choices;
    all.words.insert(all.words.end(), pieces.begin(), pieces.end());
    all.ends.push_back(static_cast<std::int32_t>(all.words.size()));
    std::vector<std::string_view>& sequence = sequences.emplace_back();
    for (const CutWord& word : cut_into_words(vocabulary, option, pieces)) sequence.push_back(word.text);
    beginning_with[sequence.front()].push_back(choices.size());
    choices.push_back({option});
  }
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto found = beginning_with.find(words[at].text);
    if (found == beginning_with.end()) continue;
    std::size_t length = 0, best = 0;
    for (const std::size_t number : found->second) {
      const std::vector<std::string_view>& sequence = sequences[number];
      const auto there = words.subspan(at, std::min(sequence.size(), words.size() - at));
      if (sequence.size() > length && std::ranges::equal(sequence, there, {}, {}, &CutWord::text))
        length = sequence.size(), best = number;
    }
    if (length == 0) continue;
    Choice& choice = choices[best];
    const CutWord &first = words[at], &last = words[at + length - 1];
    if (choice.begin < 0) choice.begin = first.place.begin, choice.end = last.place.end;
    for (std::size_t i = first.first; i < last.last; ++i)
      encoded.inputs.front().marks[i] = static_cast<std::int32_t>(best);
    at += length - 1;
  }
  return choices;
}

}  // namespace

std::vector<Choice> mark_choices(const Vocabulary& vocabulary, const Sample& sample, EncodedSample& encoded) {
  EncodedInput& document = encoded.inputs.front();
  document.marks.assign(document.words.size(), -1);
  encoded.choices = {};
  const std::vector<CutWord> words = cut_into_words(vocabulary, sample.inputs.front().text, document.words);
  return sample.choices.empty() ? mark_words(words, document)
                                : mark_options(vocabulary, sample.choices, words, encoded);
}

void mark_blank(const Vocabulary& vocabulary, const std::string& question, EncodedInput& encoded) {
  encoded.marks.assign(encoded.words.size(), -1);
  for (const CutWord& word : cut_into_words(vocabulary, question, encoded.words))
    if (word.text == kBlank) encoded.marks[word.first] = 0;
}

std::int32_t choice_number(const std::vector<Choice>& choices, const Sample& sample) {
  const std::string& answer = sample.outputs.front();
  const auto found = std::ranges::find(choices, answer, &Choice::text);
  if (found == choices.end())
    throw UnreadableInput(sample.choices.empty() ? fmt::format("the answer {} does not occur in the text", answer)
                                                 : fmt::format("the answer {} is none of the choices", answer));
  return static_cast<std::int32_t>(found - choices.begin());
}

}  // namespace heed
