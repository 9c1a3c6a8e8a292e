#include "heed/metrics/caption_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/utf8.h"
#include "heed/metrics/tokens.h"

namespace heed {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Marks beyond ASCII, by those that stand for them.
constexpr std::array<Pair, 8> kMarks = {
    {{"’", "'"}, {"‘", "`"}, {"“", "\""}, {"”", "\""}, {"…", "..."}, {"–", "--"}, {"—", "--"}, {"\u00a0", " "}}};
constexpr std::array<Pair, 6> kBrackets = {
    {{"(", "-lrb-"}, {")", "-rrb-"}, {"[", "-lsb-"}, {"]", "-rsb-"}, {"{", "-lcb-"}, {"}", "-rcb-"}}};
// Words that are two.
constexpr std::array<Pair, 8> kJoined = {{{"can", "not"},
                                          {"gon", "na"},
                                          {"got", "ta"},
                                          {"wan", "na"},
                                          {"gim", "me"},
                                          {"lem", "me"},
                                          {"'t", "is"},
                                          {"'t", "was"}}};
constexpr std::array<std::string_view, 7> kClitics = {"n't", "'s", "'m", "'d", "'re", "'ve", "'ll"};
constexpr std::array<std::string_view, 24> kAbbreviations = {
    "mr.",  "mrs.",  "ms.",  "dr.",  "st.",  "prof.", "jr.",  "sr.",   "vs.",  "etc.", "co.",  "inc.",
    "ltd.", "corp.", "gen.", "sen.", "rep.", "gov.",  "rev.", "capt.", "col.", "lt.",  "sgt.", "ave."};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80; }

// Of known abbreviations, and letters each with its point: u.s., p.m.
bool is_abbreviation(std::string_view word) {
  if (std::ranges::find(kAbbreviations, word) != kAbbreviations.end() || word == "ph.d.") return true;
  if (word.size() < 4 || word.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (i % 2 == 0 ? !is_letter(word[i]) : word[i] != '.') return false;
  return true;
}

std::string with_plain_marks(std::string text) {
  for (const auto& [mark, plain] : kMarks)
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += plain.size())
      text.replace(at, mark.size(), plain);
  return text;
}

// What stands between spaces, cut into words.
class Cutter {
 public:
  Cutter(std::string_view chunk, std::vector<std::string>& words) : chunk_(chunk), words_(words) {}

  void cut() {
    while (at_ < chunk_.size()) step();
    finish();
  }

 private:
  char next(std::size_t ahead = 1) const { return at_ + ahead < chunk_.size() ? chunk_[at_ + ahead] : '\0'; }
  std::size_t run() const {  // of the same mark; of ? and ! together
    const char c = chunk_[at_];
    const std::string_view same = c == '?' || c == '!' ? std::string_view("?!") : chunk_.substr(at_, 1);
    return std::min(chunk_.find_first_not_of(same, at_), chunk_.size()) - at_;
  }
  bool between_digits() const { return !word_.empty() && is_digit(word_.back()) && is_digit(next()); }
  // A year without its century: '80s.
  bool years_follow() const {
    std::size_t end = at_ + 1;
    while (end < chunk_.size() && is_digit(chunk_[end])) ++end;
    return end > at_ + 1 && end < chunk_.size() && chunk_[end] == 's';
  }
  bool clitic_follows() const {
    return std::ranges::find(kClitics, chunk_.substr(at_)) != kClitics.end() || chunk_.substr(at_) == "'tis" ||
           chunk_.substr(at_) == "'twas" || years_follow();
  }

  // Takes the next character, or several: into the word, as a word of their own, or as a mark that is left out.
  void step() {
    const char c = chunk_[at_];
    const std::size_t many = run();
    const auto bracket = std::ranges::find(kBrackets, chunk_.substr(at_, 1), &Pair::first);
    if (bracket != kBrackets.end()) return part(1, bracket->second);
    switch (c) {
      case '"':
      case '`':
      case ';': return part(1);
      case '%':
      case '$': return part(1, chunk_.substr(at_, 1));
      case '?':
      case '!': return many == 1 ? part(1) : part(many, chunk_.substr(at_, many));
      case ',': return between_digits() ? take() : part(1);
      case ':': return between_digits() || next() == '/' ? take() : part(1);
      case '-': return many == 1 && !word_.empty() && next() != '\0' ? take() : part(many);
      case '.': return many == 1 ? take() : part(many);
      case '\'':
        if (many > 1) return part(many);
        return (word_.empty() ? clitic_follows() : is_letter(next())) ? take() : part(1);
      default: take();
    }
  }
  void take() { word_ += chunk_[at_++]; }
  void part(std::size_t characters, std::string_view own = {}) {
    finish();
    if (!own.empty()) words_.emplace_back(own);
    at_ += characters;
  }

  void finish() {
    std::string word = std::exchange(word_, {});
    if (word.ends_with('.') && !is_abbreviation(word)) word.pop_back();
    std::vector<std::string> clitics;  // the last first
    for (bool found = true; found;) {
      found = false;
      for (const std::string_view clitic : kClitics)
        if (word.size() > clitic.size() && word.ends_with(clitic)) {
          clitics.emplace_back(clitic);
          word.resize(word.size() - clitic.size());
          found = true;
        }
    }
    const auto joined = std::ranges::find_if(
        kJoined, [&](const Pair& pair) { return word == std::string(pair.first).append(pair.second); });
    if (joined != kJoined.end())
      words_.insert(words_.end(), {std::string(joined->first), std::string(joined->second)});
    else if (!word.empty())
      words_.push_back(std::move(word));
    words_.insert(words_.end(), clitics.rbegin(), clitics.rend());
  }

  std::string_view chunk_;
  std::vector<std::string>& words_;
  std::size_t at_ = 0;
  std::string word_;
};

}  // namespace

std::vector<std::string> caption_words(std::string_view text) {
  std::vector<std::string> words;
  const std::string plain = with_plain_marks(lowercased(text));
  for (const std::string_view chunk : split_words(plain)) Cutter(chunk, words).cut();
  return words;
}

std::string caption_line(std::string_view text) { return fmt::format("{}", fmt::join(caption_words(text), " ")); }

}  // namespace heed
