#include "heed/data/word_cutting.h"

#include <array>
#include <string>

#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

// The bytes of a line break or paragraph of HTML that `text` begins with; 0 if it begins with none.
std::size_t break_length(std::string_view text) {
  if (!text.starts_with('<')) return 0;
  const std::size_t end = text.substr(0, 8).find('>');
  if (end == std::string_view::npos) return 0;
  std::string name;
  for (const char c : text.substr(1, end - 1))
    if (c != ' ' && c != '/') name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name == "br" || name == "p" ? end + 1 : 0;
}

bool is_apostrophe(std::string_view character) { return character == "'" || character == "\xe2\x80\x99"; }

// How many bytes of a word that goes on with an apostrophe and `rest` belong to the word before it: of "don't" it is
// "do" and "n't", of "it's" it is "it" and "'s". `rest` begins with the apostrophe; 0: it is no contraction.
struct Contraction {
  std::size_t length = 0;     // of what stands apart, from the apostrophe on
  bool takes_letter = false;  // the n before it belongs to it
};
Contraction contraction(std::string_view before, std::string_view rest, std::size_t apostrophe) {
  std::string letters;  // behind the apostrophe
  for (const char c : rest.substr(apostrophe)) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    if (!upper && !lower) {
      if (static_cast<unsigned char>(c) >= 0x80) return {};
      break;
    }
    letters += static_cast<char>(upper ? c - 'A' + 'a' : c);
  }
  static constexpr std::array<std::string_view, 6> kEndings{"s", "m", "d", "ll", "re", "ve"};
  for (const std::string_view ending : kEndings)
    if (letters == ending) return {apostrophe + letters.size(), false};
  const bool negated = letters == "t" && before.size() > 1 && (before.ends_with('n') || before.ends_with('N'));
  return negated ? Contraction{apostrophe + 1, true} : Contraction{};
}

void cut_tokens(std::string_view text, const UseWord& use) {
  std::string spelled;
  const auto give = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    spelled = lowercased(text.substr(begin, end - begin));
    if (const std::size_t at = spelled.find("\xe2\x80\x99"); at != std::string::npos)
      spelled = spelled.substr(0, at) + '\'' + spelled.substr(at + 3);
    use(spelled, begin, end);
  };
  std::size_t begin = 0, at = 0;  // of the word that is being read, and of the next character
  bool joined = false;            // what ends at `begin` was a contraction: I'll've
  while (at < text.size()) {
    const Character character = *Characters(text.substr(at)).begin();
    const std::size_t length = character.bytes.size();
    if (is_word_character(character.code) && !is_ideographic(character.code)) {
      at += length;
      continue;
    }
    if (is_apostrophe(character.bytes) && (at > begin || joined)) {
      const Contraction found = contraction(text.substr(begin, at - begin), text.substr(at), length);
      if (found.length > 0) {
        const std::size_t cut = at - (found.takes_letter ? 1 : 0), end = at + found.length;
        give(begin, cut);
        give(cut, end);
        begin = at = end;
        joined = true;
        continue;
      }
    }
    joined = false;
    give(begin, at);
    const std::size_t skipped = break_length(text.substr(at));
    if (skipped == 0 && !is_white_space(character.code)) give(at, at + length);
    begin = at = at + (skipped > 0 ? skipped : length);
  }
  give(begin, at);
}

void cut_letters(std::string_view text, const UseWord& use) {
  std::size_t before = 0;  // where the word before ends
  for (const std::string_view word : words_of_line(text)) {
    if (before > 0) use(kLetterBlank, before, before);
    for (const Character& letter : Characters(word)) {
      const auto begin = static_cast<std::size_t>(letter.bytes.data() - text.data());
      use(letter.bytes, begin, before = begin + letter.bytes.size());
    }
  }
}

}  // namespace

WordCutting cutting_of(std::string_view file_name) {
  return file_name.ends_with(".tokens.txt")    ? WordCutting::tokens
         : file_name.ends_with(".letters.txt") ? WordCutting::letters
                                               : WordCutting::white_space;
}

void cut_words(WordCutting cutting, std::string_view text, const UseWord& use) {
  if (cutting == WordCutting::tokens) return cut_tokens(text, use);
  if (cutting == WordCutting::letters) return cut_letters(text, use);
  for (const std::string_view word : words_of_line(text)) {
    const auto begin = static_cast<std::size_t>(word.data() - text.data());
    use(word, begin, begin + word.size());
  }
}

}  // namespace heed
