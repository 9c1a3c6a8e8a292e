#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"
#include "heed/data/symbols.h"

namespace heed {

// A stretch of a text, in characters (Unicode code points) from `begin` up to but not including `end`.
struct TextPlace {
  Index begin = 0, end = 0;
  bool operator==(const TextPlace&) const = default;
};

// Text as numbers and back. Immutable, and safe to use from several threads.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  // Without begin and end. The text is one line of valid UTF-8.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  // Begin and end are left out; an id outside the vocabulary is an Error.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // Where each piece of encode(text) stands in the text, without the white space around it. A piece of nothing but
  // white space, or one that shares its characters with the next, is empty.
  virtual std::vector<TextPlace> places(std::string_view text) const = 0;
  // Where each id's piece stands in decode(ids); begin and end are empty.
  virtual std::vector<TextPlace> decoded_places(std::span<const std::int32_t> ids) const = 0;
  // How one id is written: "▁Haus" for a subword that begins a word, "</s>" for the end.
  virtual std::string piece(std::int32_t id) const = 0;
  virtual Index size() const = 0;
  // Which word each piece belongs to, counted from 0. Begin and end are words of their own.
  virtual std::vector<Index> word_of(std::span<const std::int32_t> ids) const = 0;
  // "source.spm" or "source.vocab.txt" for the side "source"; load_vocabulary knows the kind by the ending.
  virtual std::string file_name(std::string_view side) const = 0;
  // The bytes of that file.
  virtual std::string serialized() const = 0;
};

// A vocabulary from a file: SentencePiece's (.spm, .model) or a list of words (.txt), one per line, packed or not, that
// starts with <unk>, <s> and </s>; of one that ends with .tokens.txt texts are cut into tokens (word_cutting.h). A file
// that is missing, damaged or numbers its symbols otherwise is an Error.
std::shared_ptr<const Vocabulary> load_vocabulary(const std::filesystem::path& path);

}  // namespace heed
