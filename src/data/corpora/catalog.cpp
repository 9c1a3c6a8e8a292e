#include "heed/data/corpora/catalog.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "heed/base/error.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

constexpr char kAfterContext = '\x04';

// From the header's charset to UTF-8.
class Charset {
 public:
  // `header` is the translation of the empty message: lines such as "Content-Type: text/plain; charset=UTF-8".
  Charset(std::string_view header, const std::string& name) : name_(name) {
    constexpr std::string_view kKey = "charset=";
    const std::size_t at = header.find(kKey);
    if (at != std::string_view::npos) {
      const std::string_view rest = header.substr(at + kKey.size());
      charset_ = rest.substr(0, rest.find_first_of(" \t\r\n;"));
    }
    std::string upper = charset_;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    // A template says CHARSET; all its messages are ASCII.
    if (upper.empty() || upper == "UTF-8" || upper == "UTF8" || upper == "CHARSET" || upper == "ASCII") return;
    converter_ = ::iconv_open("UTF-8", charset_.c_str());
    require(converter_ != kNone, "{}: its charset \"{}\" is unknown", name_, charset_);
  }
  ~Charset() {
    if (converter_ != kNone) ::iconv_close(converter_);
  }
  Charset(const Charset&) = delete;
  Charset& operator=(const Charset&) = delete;

  std::string converted(std::string text) const {
    if (converter_ == kNone) return text;
    std::string result(4 * text.size() + 4, '\0');
    char* in = text.data();
    char* out = result.data();
    std::size_t in_left = text.size(), out_left = result.size();
    ::iconv(converter_, nullptr, nullptr, nullptr, nullptr);
    require(::iconv(converter_, &in, &in_left, &out, &out_left) != static_cast<std::size_t>(-1),
            "{}: a message is not in the charset {} of its header", name_, charset_);
    result.resize(result.size() - out_left);
    return result;
  }

 private:
  inline static const auto kNone = reinterpret_cast<iconv_t>(-1);  // NOLINT: what iconv_open itself returns
  std::string name_, charset_;
  iconv_t converter_ = kNone;
};

std::vector<CatalogMessage> in_utf8(std::vector<CatalogMessage> messages, std::string_view header,
                                    const std::string& name) {
  const Charset charset(header, name);
  for (CatalogMessage& message : messages) {
    message.id = charset.converted(std::move(message.id));
    message.plural = charset.converted(std::move(message.plural));
    for (std::string& translation : message.translations) translation = charset.converted(std::move(translation));
  }
  return messages;
}

bool translated(const CatalogMessage& message) {
  return !message.translations.empty() &&
         std::none_of(message.translations.begin(), message.translations.end(),
                      [](const std::string& translation) { return translation.empty(); });
}

std::vector<std::string> split_at_zero(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t zero; (zero = text.find('\0')) != std::string_view::npos; text.remove_prefix(zero + 1))
    parts.emplace_back(text.substr(0, zero));
  parts.emplace_back(text);
  return parts;
}

// The numbers and strings of a .mo file, each checked against its end.
class Compiled {
 public:
  Compiled(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    constexpr std::uint32_t kMark = 0x950412de, kTurnedMark = 0xde120495;
    require(bytes.size() >= 28, "{}: {} bytes are too few for a .mo catalogue", name_, bytes.size());
    const std::uint32_t mark = number(0);
    turned_ = mark == kTurnedMark;
    require(mark == kMark || turned_, "{}: it does not start as a .mo catalogue does", name_);
    require(number(4) >> 16 <= 1, "{}: revision {} of the format is unknown", name_, number(4) >> 16);
  }
  std::uint32_t number(std::size_t at) const {
    require(at <= bytes_.size() && bytes_.size() - at >= 4, "{}: byte {} is beyond its end, {}", name_, at,
            bytes_.size());
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t shift = 8 * (turned_ ? 3 - i : i);
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at + i])) << shift;
    }
    return value;
  }
  // The string that the table at `table` lists as number `index`.
  std::string_view text(std::size_t table, std::size_t index) const {
    const std::size_t length = number(table + 8 * index), at = number(table + 8 * index + 4);
    require(at <= bytes_.size() && length <= bytes_.size() - at,
            "{}: message {} reaches from byte {} over {} bytes, beyond its end, {}", name_, index, at, length,
            bytes_.size());
    return bytes_.substr(at, length);
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  bool turned_ = false;
};

}  // namespace

std::vector<CatalogMessage> read_compiled_catalog(std::string_view bytes, const std::string& name) {
  const Compiled file(bytes, name);
  const std::size_t count = file.number(8), ids = file.number(12), translations = file.number(16);
  require(count <= bytes.size() / 16, "{}: {} messages do not fit in {} bytes", name, count, bytes.size());
  std::vector<CatalogMessage> messages;
  std::string header;
  std::size_t total = 0;  // strings may overlap, so the sum needs a bound of its own
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view id = file.text(ids, i);
    const std::string_view translation = file.text(translations, i);
    total += id.size() + translation.size();
    require(total <= 2 * bytes.size(), "{}: its messages overlap", name);
    if (id.empty()) {
      header = translation;
      continue;
    }
    if (const std::size_t context = id.find(kAfterContext); context != std::string_view::npos)
      id.remove_prefix(context + 1);
    const std::vector<std::string> forms = split_at_zero(id);
    CatalogMessage message{forms[0], forms.size() > 1 ? forms[1] : "", split_at_zero(translation)};
    if (!message.id.empty() && translated(message)) messages.push_back(std::move(message));
  }
  return in_utf8(std::move(messages), header, name);
}

namespace {

// Reads a .po line by line. A message is complete when the next one begins.
class SourceCatalog {
 public:
  explicit SourceCatalog(const std::string& name) : name_(name) {}

  void line(std::string_view text) {
    ++number_;
    const std::size_t begin = text.find_first_not_of(" \t");
    text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
    if (text.empty()) return;
    if (text.front() == '#') return comment(text);
    if (text.front() == '"') {
      check(into_ != nullptr, "a string that belongs to nothing");
      return unescape(text);
    }
    keyword(text);
  }
  std::vector<CatalogMessage> finish() {
    complete();
    return in_utf8(std::move(messages_), header_, name_);
  }

 private:
  void check(bool ok, const char* what) const { require(ok, "{}: line {}: {}", name_, number_, what); }

  void comment(std::string_view text) {
    if (text.starts_with("#~")) return;  // obsolete
    if (has_translation_) complete();    // a comment belongs to the message that follows
    if (text.starts_with("#,") && text.find("fuzzy") != std::string_view::npos) fuzzy_ = true;
  }
  void keyword(std::string_view text) {
    const std::size_t length = std::min(text.find_first_of(" \t[\""), text.size());
    const std::string_view word = text.substr(0, length);
    text.remove_prefix(length);
    if (word == "msgctxt" || word == "msgid") {
      if (has_translation_) complete();
      into_ = word == "msgid" ? &message_.id : &context_;
      has_id_ = has_id_ || word == "msgid";
    } else if (word == "msgid_plural") {
      check(has_id_ && !has_translation_, "msgid_plural without a msgid before it");
      into_ = &message_.plural;
    } else if (word == "msgstr") {
      check(has_id_, "msgstr without a msgid before it");
      if (!text.empty() && text.front() == '[') text = form(text);
      message_.translations.emplace_back();
      into_ = &message_.translations.back();
      has_translation_ = true;
    } else {
      check(false, "neither a comment, a string nor a keyword of gettext");
    }
    into_->clear();
    const std::size_t quote = text.find_first_not_of(" \t");
    check(quote != std::string_view::npos && text[quote] == '"', "a keyword without a string");
    unescape(text.substr(quote));
  }
  // "[2] ..." must be the next form; gives what follows.
  std::string_view form(std::string_view text) const {
    const std::string expected = fmt::format("[{}]", message_.translations.size());
    check(text.starts_with(expected), "plural forms that are not numbered in order");
    return text.substr(expected.size());
  }
  void complete() {
    if (has_id_ && message_.id.empty() && context_.empty() && !message_.translations.empty()) {
      header_ = message_.translations.front();
    } else if (has_id_ && !fuzzy_ && !message_.id.empty() && translated(message_)) {
      messages_.push_back(std::move(message_));
    }
    message_ = {};
    context_.clear();
    into_ = nullptr;
    has_id_ = has_translation_ = fuzzy_ = false;
  }
  // Adds a quoted string to what is being read.
  void unescape(std::string_view quoted) {
    const std::size_t last = quoted.find_last_not_of(" \t\r");
    check(last > 0 && last != std::string_view::npos && quoted[last] == '"', "a string without its closing quote");
    const std::string_view text = quoted.substr(1, last - 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      check(text[i] != '"', "a quote within a string");
      if (text[i] != '\\') {
        *into_ += text[i];
        continue;
      }
      check(++i < text.size(), "a string without its closing quote");
      *into_ += escaped(text, i);
    }
  }
  // The character of an escape; `i` is at the letter after the backslash, and afterwards at the escape's last.
  char escaped(std::string_view text, std::size_t& i) const {
    constexpr std::string_view kLetters = "abfnrtv\"\\'?", kMeant = "\a\b\f\n\r\t\v\"\\'?";
    if (const std::size_t at = kLetters.find(text[i]); at != std::string_view::npos) return kMeant[at];
    const bool hexadecimal = text[i] == 'x';
    const std::size_t begin = hexadecimal ? i + 1 : i, most = hexadecimal ? 2 : 3;
    unsigned value = 0;
    std::size_t end = begin;
    for (; end < text.size() && end - begin < most; ++end) {
      const std::optional<unsigned> digit = digit_of(text[end], hexadecimal ? 16 : 8);
      if (!digit) break;
      value = value * (hexadecimal ? 16 : 8) + *digit;
    }
    check(end > begin && value > 0 && value < 256, "an escape that means nothing");
    i = end - 1;
    return static_cast<char>(value);
  }
  static std::optional<unsigned> digit_of(char c, unsigned base) {
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                  : base;
    return digit < base ? std::optional(digit) : std::nullopt;
  }

  const std::string& name_;
  std::size_t number_ = 0;
  std::vector<CatalogMessage> messages_;
  std::string header_, context_;
  CatalogMessage message_;
  std::string* into_ = nullptr;  // what the next string is part of
  bool has_id_ = false, has_translation_ = false, fuzzy_ = false;
};

// Without the one mark of a shortcut, if there is one.
std::optional<std::string> without_shortcut(std::string text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos || text.find(mark, at + 1) != std::string::npos || at + 1 >= text.size() ||
      text[at + 1] == ' ')
    return std::nullopt;
  return text.erase(at, 1);
}

// The word of `text` that holds the mark.
std::string word_with(const std::string& text, char mark) {
  for (const std::string_view word : words_of_line(text))
    if (word.find(mark) != std::string_view::npos) return std::string(word);
  return "";
}

std::pair<std::string, std::string> without_shortcuts(std::string source, std::string target) {
  for (const char mark : {'_', '&', '~'}) {
    const auto plain_source = without_shortcut(source, mark), plain_target = without_shortcut(target, mark);
    // The same word on both sides is a name such as file_name, unless the mark leads it.
    const std::string word = word_with(source, mark);
    if (plain_source && plain_target && (word != word_with(target, mark) || word.front() == mark))
      return {*plain_source, *plain_target};
  }
  return {std::move(source), std::move(target)};
}

}  // namespace

std::vector<CatalogMessage> read_source_catalog(std::string_view text, const std::string& name) {
  SourceCatalog catalog(name);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    catalog.line(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return catalog.finish();
}

std::vector<std::pair<std::string, std::string>> pairs_of(const CatalogMessage& message) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const std::vector<std::string>& forms = message.translations;
  if (message.plural.empty()) return {without_shortcuts(message.id, forms.front())};
  // A language with one form for all numbers says the plural with it.
  if (forms.size() > 1) pairs.push_back(without_shortcuts(message.id, forms.front()));
  pairs.push_back(without_shortcuts(message.plural, forms.back()));
  return pairs;
}

}  // namespace heed
