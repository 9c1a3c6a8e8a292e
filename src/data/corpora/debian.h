#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Descriptions of packages, as Debian's Packages and Translation-xx files have them, one block a package:
//   Package: tar
//   Description-md5: 48033bf96442788d1f697785773ad9bb
//   Description-de: kurze Beschreibung
//    Ein Absatz.
//    .
//    Noch einer.

// What a translator translates, one after the other: the short description, and each paragraph or item of a list.
std::vector<std::string> segments_of_description(const std::vector<std::string>& lines);

// A paragraph cut where a sentence ends and the next starts with a capital.
std::vector<std::string> sentences_of_paragraph(std::string_view paragraph);

// Matches the descriptions in a language with the English ones.
class DebianDescriptions {
 public:
  // From Packages or Translation-en; the longer one of the same description is kept.
  void read_english(const std::string& file);

  using Use = std::function<void(std::string_view english, std::string_view translated)>;
  // Calls `use` with each segment that both have: sentence by sentence if a paragraph has as many in both languages.
  void read_translations(const std::string& file, const std::string& language, const Use& use);

  struct Counts {
    Index english = 0, translated = 0;
    Index without_english = 0;  // no English description has its checksum
    Index other_segments = 0;   // not as many paragraphs as the English: only the short description is used
  };
  const Counts& counts() const { return counts_; }

 private:
  std::unordered_map<std::string, std::vector<std::string>> english_;  // segments by the checksum of the description
  Counts counts_;
};

}  // namespace heed
