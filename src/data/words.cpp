#include "heed/data/words.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/data/text_file.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 3> kSymbols{"<unk>", "<s>", "</s>"};

// What follows from how each word is written.
class WholeWords : public Vocabulary {
 public:
  explicit WholeWords(WordCutting cutting) : cutting_(cutting) {}
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    cut_words(cutting_, text, [&](std::string_view word, std::size_t, std::size_t) { ids.push_back(id_of(word)); });
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      if (id == kBegin || id == kEnd) continue;
      if (!text.empty()) text += ' ';
      text += piece(id);
    }
    return text;
  }
  std::vector<TextPlace> places(std::string_view text) const override {
    std::vector<TextPlace> places;
    std::size_t seen = 0;  // bytes
    Index characters = 0;  // in these
    cut_words(cutting_, text, [&](std::string_view, std::size_t begins, std::size_t ends) {
      const Index begin = characters + length(text.substr(seen, begins - seen));
      characters = begin + length(text.substr(begins, ends - begins));
      seen = ends;
      places.push_back({begin, characters});
    });
    return places;
  }
  std::vector<TextPlace> decoded_places(std::span<const std::int32_t> ids) const override {
    std::vector<TextPlace> places;
    Index end = 0;
    for (const std::int32_t id : ids) {
      const bool symbol = id == kBegin || id == kEnd;
      const Index begin = symbol || end == 0 ? end : end + 1;
      if (!symbol) end = begin + length(piece(id));
      places.push_back({begin, end});
    }
    return places;
  }
  std::vector<Index> word_of(std::span<const std::int32_t> ids) const override {
    std::vector<Index> words(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) words[i] = static_cast<Index>(i);
    return words;
  }
  WordCutting cutting() const { return cutting_; }
  // Of a word as it is looked up.
  virtual std::int32_t id_of(std::string_view word) const = 0;

 protected:
  static Index length(std::string_view text) { return static_cast<Index>(count_characters(text)); }

 private:
  WordCutting cutting_;
};

class Words : public WholeWords {
 public:
  // The symbols first. `name` stands in errors.
  Words(std::vector<std::string> words, const std::string& name, WordCutting cutting)
      : WholeWords(cutting), words_(std::move(words)) {
    for (std::size_t id = 0; id < words_.size(); ++id)
      require(ids_.emplace(words_[id], static_cast<std::int32_t>(id)).second, "{}: line {}: {} is there twice", name,
              id + 1, words_[id]);
    for (const std::string_view symbol : kSymbols) ids_.erase(symbol);  // no text can name them
  }
  std::int32_t id_of(std::string_view word) const override {
    const auto found = ids_.find(word);
    return found == ids_.end() ? kUnknown : found->second;
  }
  std::string piece(std::int32_t id) const override {
    require(id >= 0 && id < size(), "[words] id {} is outside 0..{}", id, size() - 1);
    return words_[static_cast<std::size_t>(id)];
  }
  Index size() const override { return static_cast<Index>(words_.size()); }
  std::string file_name(std::string_view side) const override {
    static constexpr std::array<std::string_view, 3> kEndings{".vocab.txt", ".tokens.txt", ".letters.txt"};
    return std::string(side).append(kEndings[static_cast<std::size_t>(cutting())]);
  }
  std::string serialized() const override {
    std::string text;
    for (const std::string& word : words_) text += word + '\n';
    return text;
  }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string_view, std::int32_t> ids_;  // views into words_, which never changes
};

// Words and, behind them, those of one text that they lack.
class ExtendedWords final : public WholeWords {
 public:
  ExtendedWords(std::shared_ptr<const Words> words, std::string_view text)
      : WholeWords(words->cutting()), words_(std::move(words)) {
    cut_words(cutting(), text, [&](std::string_view word, std::size_t begin, std::size_t end) {
      if (id_of(word) == kUnknown) more_.push_back({std::string(word), std::string(text.substr(begin, end - begin))});
    });
  }
  std::int32_t id_of(std::string_view word) const override {
    if (const std::int32_t id = words_->id_of(word); id != kUnknown) return id;
    const auto found = std::find_if(more_.begin(), more_.end(), [&](const More& more) { return more.word == word; });
    return found == more_.end() ? kUnknown : static_cast<std::int32_t>(words_->size() + (found - more_.begin()));
  }
  std::string piece(std::int32_t id) const override {
    if (id < words_->size()) return words_->piece(id);
    return id < size() ? more_[static_cast<std::size_t>(id - words_->size())].written : words_->piece(kUnknown);
  }
  Index size() const override { return words_->size() + static_cast<Index>(more_.size()); }
  std::string file_name(std::string_view side) const override { return words_->file_name(side); }
  std::string serialized() const override { return words_->serialized(); }

 private:
  struct More {
    std::string word, written;  // as it is looked up, and as it stands in the text
  };
  std::shared_ptr<const Words> words_;
  std::vector<More> more_;  // few
};

// Letters, of which a blank is one: nothing stands between them.
class Letters final : public Words {
 public:
  Letters(std::vector<std::string> letters, const std::string& name)
      : Words(std::move(letters), name, WordCutting::letters) {}
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids)
      if (id != kBegin && id != kEnd) text += is_blank(id) ? " " : piece(id);
    return text;
  }
  std::vector<TextPlace> decoded_places(std::span<const std::int32_t> ids) const override {
    std::vector<TextPlace> places;
    Index at = 0;
    for (const std::int32_t id : ids) {
      const bool empty = id == kBegin || id == kEnd || is_blank(id);
      const Index end = at + (empty ? 0 : length(piece(id)));
      places.push_back({at, end});
      at = is_blank(id) ? at + 1 : end;
    }
    return places;
  }
  // A blank belongs to the word before it.
  std::vector<Index> word_of(std::span<const std::int32_t> ids) const override {
    std::vector<Index> words(ids.size());
    Index word = -1;
    bool inside = false;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool symbol = ids[i] == kBegin || ids[i] == kEnd;
      if (symbol || !inside) ++word;
      words[i] = word;
      inside = !symbol && !is_blank(ids[i]);
    }
    return words;
  }

 private:
  bool is_blank(std::int32_t id) const { return piece(id) == kLetterBlank; }
};

std::shared_ptr<const Vocabulary> made(std::vector<std::string> words, const std::string& name, WordCutting cutting) {
  if (cutting == WordCutting::letters) return std::make_shared<Letters>(std::move(words), name);
  return std::make_shared<Words>(std::move(words), name, cutting);
}

}  // namespace

std::shared_ptr<const Vocabulary> train_words(const TrainingText& text, const WordOptions& options) {
  const auto symbols = static_cast<Index>(kSymbols.size());
  require(options.size > symbols, "[words] a vocabulary of {} has no room for a word beside {} symbols", options.size,
          symbols);
  require(options.minimum >= 1, "[words] a word cannot be asked to occur {} times", options.minimum);
  std::unordered_map<std::string, Index> counts;
  text.each("words", [&](std::string_view line) {
    cut_words(options.cutting, line,
              [&](std::string_view word, std::size_t, std::size_t) { ++counts[std::string(word)]; });
  });
  for (const std::string_view symbol : kSymbols) counts.erase(std::string(symbol));
  std::erase_if(counts, [&](const auto& entry) { return entry.second < options.minimum; });
  require(!counts.empty(), "[words] no word occurs {} times", options.minimum);

  std::vector<std::pair<std::string, Index>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  sorted.resize(std::min(sorted.size(), static_cast<std::size_t>(options.size - symbols)));
  std::vector<std::string> words(kSymbols.begin(), kSymbols.end());
  for (auto& [word, count] : sorted) words.push_back(std::move(word));
  const std::unordered_set<std::string> known(words.begin(), words.end());
  for (const std::string& word : options.more)
    if (known.count(word) == 0) words.push_back(word);
  return made(std::move(words), "[words]", options.cutting);
}

std::shared_ptr<const Vocabulary> extended_by(const std::shared_ptr<const Vocabulary>& vocabulary,
                                              std::string_view text) {
  auto words = std::dynamic_pointer_cast<const Words>(vocabulary);
  const bool fits = words && words->cutting() != WordCutting::letters;  // of which a text lacks hardly any
  return fits ? std::make_shared<const ExtendedWords>(std::move(words), text) : nullptr;
}

std::shared_ptr<const Vocabulary> words_from(std::string_view text, const std::string& name, WordCutting cutting) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.ends_with('\r')) word.remove_suffix(1);
    const std::size_t line = words.size() + 1;
    require(valid_utf8(word), "{}: line {} is not UTF-8", name, line);
    require(words_of_line(word).size() == 1 && words_of_line(word)[0] == word, "{}: line {} is not one word", name,
            line);
    words.emplace_back(word);
  }
  require(words.size() >= kSymbols.size() && std::equal(kSymbols.begin(), kSymbols.end(), words.begin()),
          "{}: the first lines are not <unk>, <s> and </s>, so it is no vocabulary of words", name);
  return made(std::move(words), name, cutting);
}

}  // namespace heed
