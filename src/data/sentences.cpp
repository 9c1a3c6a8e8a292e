#include "heed/data/sentences.h"

#include <algorithm>
#include <array>

#include "heed/base/utf8.h"

namespace heed {
namespace {

using std::string_view;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_small(char c) { return c >= 'a' && c <= 'z'; }
char in_small(char c) { return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// A small letter of any alphabet at the front; letters without case count as capitals.
bool starts_small(string_view text) { return !text.empty() && is_small_letter(Characters(text).begin()->code); }

template <std::size_t N>
std::size_t length_of_any(string_view text, const std::array<string_view, N>& marks) {
  for (const string_view mark : marks)
    if (text.starts_with(mark)) return mark.size();
  return 0;
}

// Marks at the front of a text; 0 if there is none.
std::size_t stop_length(string_view text) {
  static constexpr std::array<string_view, 6> kStops{".", "!", "?", "…", "।", "؟"};
  return length_of_any(text, kStops);
}
std::size_t wide_stop_length(string_view text) {
  static constexpr std::array<string_view, 4> kStops{"。", "！", "？", "｡"};
  return length_of_any(text, kStops);
}
std::size_t closer_length(string_view text) {
  static constexpr std::array<string_view, 17> kClosers{"\"", "'",  ")",  "]",  "}",  "”",  "’",  "»", "›",
                                                        "」", "』", "）", "】", "》", "〉", "］", "｣"};
  return length_of_any(text, kClosers);
}
// Those that never open.
std::size_t sure_closer_length(string_view text) {
  static constexpr std::array<string_view, 11> kClosers{")", "]", "''", "”", "」", "』", "）", "】", "》", "〉", "］"};
  return length_of_any(text, kClosers);
}
std::size_t opener_length(string_view text) {
  static constexpr std::array<string_view, 13> kOpeners{"\"", "'", "(", "[", "{", "“", "‘",
                                                        "«",  "‹", "-", "–", "—", "*"};
  return length_of_any(text, kOpeners);
}
string_view without_openers(string_view text) {
  while (const std::size_t length = opener_length(text)) text.remove_prefix(length);
  return text;
}

// <br>, <br/>, <br />, <p>, </p>, with attributes or without; 0 if there is none at the front.
std::size_t tag_length(string_view text) {
  if (text.size() < 3 || text[0] != '<') return 0;
  std::size_t at = text[1] == '/' ? 2 : 1;
  if (in_small(text[at]) == 'b' && at + 1 < text.size() && in_small(text[at + 1]) == 'r') {
    at += 2;
  } else if (in_small(text[at]) == 'p') {
    ++at;
  } else {
    return 0;
  }
  constexpr std::size_t kLongest = 200;
  if (at >= text.size() || (text[at] != '>' && text[at] != '/' && !is_blank(text[at]))) return 0;
  const std::size_t close = text.substr(0, kLongest).find('>', at);
  return close == string_view::npos ? 0 : close + 1;
}

// Where something may be that ends a sentence: the first bytes of its marks.
constexpr std::array<bool, 256> may_end_table() {
  std::array<bool, 256> table{};
  for (const char c : string_view(".!?<\n")) table[static_cast<unsigned char>(c)] = true;
  for (const string_view mark : {"…", "।", "؟", "。", "！"}) table[static_cast<unsigned char>(mark[0])] = true;
  return table;
}
constexpr std::array<bool, 256> kMayEnd = may_end_table();

template <std::size_t N>
bool is_one_of(string_view word, const std::array<string_view, N>& sorted) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

// Words that stand before a full stop; in small letters, in the order of the alphabet. Dots inside them need no entry:
// "e.g." and "U.S." are known by these.
constexpr std::array<string_view, 52> kNeverLast{
    "adm",    "approx", "bros", "ca",  "capt", "cf",  "cmdr", "col",  "dept", "dr",   "e.g",  "ed",   "eds",
    "eg",     "esp",    "est",  "ft",  "gen",  "gov", "hon",  "i.e",  "ie",   "incl", "lt",   "maj",  "max",
    "messrs", "min",    "mlle", "mme", "mr",   "mrs", "ms",   "msgr", "mt",   "mx",   "pres", "prof", "repr",
    "resp",   "rev",    "sen",  "sgt", "sra",  "st",  "sta",  "supt", "tel",  "univ", "viz",  "vs",   "z.b"};
constexpr std::array<string_view, 20> kBeforeNumbers{"art", "ch",  "chap", "eq", "fig", "figs", "no",
                                                     "nos", "nr",  "op",   "p",  "par", "pg",   "pp",
                                                     "pt",  "sec", "tab",  "v",  "vol", "vols"};
constexpr std::array<string_view, 27> kMayBeLast{"al",  "am",  "apr", "aug", "ave", "blvd", "co",  "corp", "dec",
                                                 "etc", "feb", "fri", "inc", "jan", "jr",   "ltd", "mon",  "nov",
                                                 "oct", "pm",  "rd",  "sat", "sep", "sept", "sr",  "sun",  "usw"};
// With these in capitals a sentence begins; behind an abbreviation other capitals may be a name.
constexpr std::array<string_view, 44> kBeginners{
    "a",    "after", "all",   "although", "an",      "and", "as", "at",   "but",  "for", "he",
    "her",  "here",  "his",   "how",      "however", "i",   "if", "in",   "it",   "its", "my",
    "no",   "on",    "one",   "or",       "our",     "she", "so", "some", "that", "the", "their",
    "then", "there", "these", "they",     "this",    "to",  "we", "what", "when", "you", "your"};

static_assert(std::is_sorted(kNeverLast.begin(), kNeverLast.end()));
static_assert(std::is_sorted(kBeforeNumbers.begin(), kBeforeNumbers.end()));
static_assert(std::is_sorted(kMayBeLast.begin(), kMayBeLast.end()));
static_assert(std::is_sorted(kBeginners.begin(), kBeginners.end()));

class Splitter {
 public:
  explicit Splitter(string_view text) : text_(text) {}

  std::vector<std::size_t> ends() {
    for (std::size_t at = 0; at < text_.size();) {
      if (!kMayEnd[static_cast<unsigned char>(text_[at])]) {
        ++at;
      } else if (text_[at] == '\n') {
        at = is_empty_line(at + 1) ? end_at(at, at) : at + 1;
      } else if (text_[at] == '<') {
        at = tag_length(text_.substr(at)) > 0 ? end_at(at, at) : at + 1;
      } else {
        at = after_stops(at);
      }
    }
    if (ends_.empty() || ends_.back() < text_.size()) {
      if (ends_.empty() || has_words(text_.size())) {
        if (!text_.empty()) ends_.push_back(text_.size());
      } else {
        ends_.back() = text_.size();
      }
    }
    return std::move(ends_);
  }

 private:
  // A run of marks, what closes behind it, and whether a sentence ends there; gives where to go on.
  std::size_t after_stops(std::size_t at) {
    std::size_t end = at;
    Run run;
    for (string_view left = text_.substr(at);; left = text_.substr(end)) {
      std::size_t length = stop_length(left);
      if (length > 0) {
        run.dots += left[0] == '.' ? 1 : 0;
        run.ellipsis = run.ellipsis || left.starts_with("…");
        run.calls = run.calls || (left[0] != '.' && !left.starts_with("…"));
      } else {
        length = wide_stop_length(left);
        run.wide = run.wide || length > 0;
      }
      if (length == 0) break;
      end += length;
    }
    if (end == at) return at + 1;  // another character with the first byte of a mark
    run.begin = at;
    run.stop = end;
    while (const std::size_t length = closer_length(text_.substr(end))) {
      run.closer = text_.substr(end, length);
      end += length;
    }
    run.end = end;
    return is_end(run) ? end_at(at, end) : end;
  }

  struct Run {
    std::size_t begin = 0, stop = 0, end = 0;  // of the marks; and of what closes behind them
    int dots = 0;
    bool ellipsis = false, calls = false, wide = false;  // calls: ! or ?
    string_view closer = {};                             // the last
  };

  bool is_end(const Run& run) {
    const string_view after = text_.substr(run.end);
    const string_view next = after.substr(std::min(blanks(run.end), text_.size()) - run.end);
    if (next.empty() || tag_length(next) > 0) return true;
    if (run.wide) return !goes_on_after_quote(run.closer, next);
    const bool apart = next.size() < after.size();
    if (run.calls) return apart ? run.closer.empty() || !starts_small(next) : is_capital(next[0]) || is_wide(next[0]);
    if (run.ellipsis || run.dots > 1) return apart && !starts_small(without_openers(next));
    return apart ? full_stop_ends(run, next) : full_stop_lacks_blank(run, next);
  }
  // 「行く。」と言った。 The quote is a part of the sentence around it.
  static bool goes_on_after_quote(string_view closer, string_view next) {
    static constexpr std::array<string_view, 4> kGoOn{"と", "って", "、", "，"};
    return !closer.empty() && length_of_any(next, kGoOn) > 0;
  }
  // The first byte of a character that is written without blanks: U+3000 and above.
  static bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0xe3; }

  bool full_stop_ends(const Run& run, string_view next) {
    const string_view word = word_before(run.begin);
    if (word.empty()) return true;  // it stands apart
    next = without_openers(next);
    const bool small = starts_small(next);
    const bool number = std::all_of(word.begin(), word.end(), is_digit);
    if (number) return !small && !is_first_word(word);
    std::array<char, 8> buffer{};
    if (word.size() > buffer.size()) return true;
    std::transform(word.begin(), word.end(), buffer.begin(), in_small);
    const string_view known(buffer.data(), word.size());
    if (is_one_of(known, kNeverLast)) return false;
    if (is_one_of(known, kBeforeNumbers) && !next.empty() && is_digit(next[0])) return false;
    const bool initial = word.size() == 1 && is_capital(word[0]);
    const bool dotted = word.find('.') != string_view::npos && is_dotted_letters(word);
    if (initial || dotted || is_one_of(known, kMayBeLast)) return !small && begins_sentence(next);
    return true;
  }
  // "It was bad.The rest" is two sentences; "example.Com" and "v2.Final.txt" are words.
  bool full_stop_lacks_blank(const Run& run, string_view next) const {
    const string_view word = word_before(run.begin);
    if (is_wide(next[0])) return !word.empty() && !is_digit(word.back());
    if (!is_capital(next[0]) || word.size() < 2 || !std::all_of(word.begin(), word.end(), is_small)) return false;
    const std::size_t length = std::min(next.find_first_of(" \t\n\r\f\v<"), next.size());
    const std::size_t dot = next.substr(0, length).find_first_of("./@");
    return dot == string_view::npos || dot + 1 >= length;
  }
  // What stands between a blank or an opening quote and the offset.
  string_view word_before(std::size_t at) const {
    constexpr std::size_t kLongest = 64;
    std::size_t begin = at;
    while (begin > 0 && at - begin < kLongest && !is_blank(text_[begin - 1]) && text_[begin - 1] != '>') --begin;
    return without_openers(text_.substr(begin, at - begin));
  }
  static bool is_dotted_letters(string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i)
      if ((word[i] == '.') != (i % 2 == 1)) return false;
    return true;
  }
  static bool begins_sentence(string_view next) {
    const std::size_t length = std::min(next.find_first_of(" \t\n\r\f\v,'"), next.size());
    std::array<char, 8> buffer{};
    if (length > buffer.size() || length == 0 || !is_capital(next[0])) return false;
    std::transform(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(length), buffer.begin(), in_small);
    return is_one_of(string_view(buffer.data(), length), kBeginners);
  }
  // Nothing but blanks, tags and marks before it in its sentence.
  bool is_first_word(string_view word) { return !has_words(static_cast<std::size_t>(word.data() - text_.data())); }

  // Closes a sentence whose marks begin at `marks` and end at `end`, with all that belongs to it; gives where to go on.
  std::size_t end_at(std::size_t marks, std::size_t end) {
    end = trailing(end);
    if (has_words(marks)) {
      ends_.push_back(end);
      checked_ = end;
    }
    return end;
  }
  // Behind blanks, tags, and marks that stand apart: ". ''", "? !", ". )", "。 ”".
  std::size_t trailing(std::size_t at) const {
    while (at < text_.size()) {
      const std::size_t next = blanks(at);
      const string_view left = text_.substr(next);
      if (const std::size_t tag = tag_length(left)) {
        at = next + tag;
        continue;
      }
      std::size_t mark = stop_length(left);
      while (mark > 0 && stop_length(left.substr(mark)) > 0) mark += stop_length(left.substr(mark));
      if (mark == 0 && next > at) mark = sure_closer_length(left);
      if (mark == 0 || (mark < left.size() && !is_blank(left[mark]) && left[mark] != '<')) return next;
      at = next + mark;
    }
    return at;
  }
  std::size_t blanks(std::size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at;
  }
  bool is_empty_line(std::size_t at) const {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\r')) ++at;
    return at < text_.size() && text_[at] == '\n';
  }
  // Whether the sentence that is open has a word before `limit`. Every byte is looked at once.
  bool has_words(std::size_t limit) {
    while (checked_ < limit) {
      if (const std::size_t tag = tag_length(text_.substr(checked_))) {
        checked_ += tag;
        continue;
      }
      const char c = text_[checked_];
      if (is_small(in_small(c)) || is_digit(c) || !is_ascii(c)) return true;
      ++checked_;
    }
    return false;
  }

  string_view text_;
  std::vector<std::size_t> ends_;
  std::size_t checked_ = 0;  // the open sentence has no word before it
};

}  // namespace

std::vector<std::size_t> sentence_ends(std::string_view text) { return Splitter(text).ends(); }

}  // namespace heed
