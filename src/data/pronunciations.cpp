#include "heed/data/pronunciations.h"

#include <algorithm>
#include <span>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

// "TOMATO(2)" is another way to say "TOMATO".
std::string_view word_of_entry(std::string_view word) {
  const std::size_t open = word.rfind('(');
  const bool numbered = open != std::string_view::npos && open > 0 && word.ends_with(')') && open + 2 < word.size() &&
                        word.find_first_not_of("0123456789", open + 1) == word.size() - 1;
  return numbered ? word.substr(0, open) : word;
}

std::string in_case(const std::string& word, char first, char last, int shift) {
  std::string changed = word;
  for (char& c : changed)
    if (c >= first && c <= last) c = static_cast<char>(c + shift);
  return changed;
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

}  // namespace

Pronunciations::Pronunciations(const std::string& file) {
  LineReader lines(file);
  for (std::string line; lines.next(line);) {
    require(valid_utf8(line), "{}:{}: it is not UTF-8", file, lines.number());
    if (line.starts_with(";;;") || line.starts_with('#')) continue;
    std::vector<std::string_view> cells = words_of_line(line);
    cells.erase(std::find(cells.begin(), cells.end(), "#"), cells.end());
    if (cells.empty()) continue;
    require(cells.size() > 1, "{}:{}: {} has no phonemes; a line is a word and its phonemes, with blanks between", file,
            lines.number(), cells[0]);
    // The first line of a word counts, whether it is numbered or not.
    words_.try_emplace(std::string(word_of_entry(cells[0])), joined(std::span(cells).subspan(1)));
  }
  require(!words_.empty(), "{}: there is no word in it", file);
}

const std::string* Pronunciations::find(const std::string& word) const {
  for (const std::string& spelling : {word, in_case(word, 'a', 'z', 'A' - 'a'), in_case(word, 'A', 'Z', 'a' - 'A')})
    if (const auto found = words_.find(spelling); found != words_.end()) return &found->second;
  return nullptr;
}

Pronunciations::Said Pronunciations::operator()(std::string_view text) const {
  Said said;
  for (const std::string_view word : words_of_line(text)) {
    const std::string* const phonemes = find(std::string(word));
    if (!phonemes) return {"", std::string(word)};
    said.phonemes += (said.phonemes.empty() ? "" : " ") + *phonemes;
  }
  return said;
}

}  // namespace heed
