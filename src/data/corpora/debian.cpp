#include "heed/data/corpora/debian.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

// Calls `use` with the checksum and the lines of each description that a field with one of the names begins.
void for_each_description(const std::string& file, const std::vector<std::string>& fields,
                          const std::function<void(const std::string&, const std::vector<std::string>&)>& use) {
  LineReader reader(file);
  std::string checksum;
  std::vector<std::string> lines;
  bool inside = false;  // a description
  const auto complete = [&] {
    if (!checksum.empty() && !lines.empty()) use(checksum, lines);
    checksum.clear();
    lines.clear();
    inside = false;
  };
  for (std::string line; reader.next(line);) {
    if (line.empty()) {
      complete();
    } else if (line.front() == ' ') {
      if (inside) lines.push_back(line.substr(1));
    } else {
      const std::size_t colon = std::min(line.find(':'), line.size());
      const std::string field = line.substr(0, colon);
      const std::string value =
          line.substr(std::min(line.find_first_not_of(' ', std::min(colon + 1, line.size())), line.size()));
      inside = std::find(fields.begin(), fields.end(), field) != fields.end();
      if (inside) lines = {value};
      if (field == "Description-md5") checksum = value;
    }
  }
  complete();
}

bool starts_like_a_sentence(std::string_view text) {
  return !text.empty() && is_capital_letter(Characters(text).begin()->code);
}

}  // namespace

std::vector<std::string> segments_of_description(const std::vector<std::string>& lines) {
  std::vector<std::string> segments;
  bool open = false;  // the last segment goes on
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const bool ends = line == ".", item = line.starts_with(' ') || line.starts_with("* ") || line.starts_with("- ");
    if (ends) {
      open = false;
      continue;
    }
    if (open && !item) {
      segments.back() += ' ';
      segments.back() += line;
    } else {
      const std::size_t begin = line.find_first_not_of(" *-");
      if (begin != std::string::npos) segments.push_back(i == 0 ? line : line.substr(begin));
    }
    open = i > 0;  // the first line stands alone
  }
  return segments;
}

std::vector<std::string> sentences_of_paragraph(std::string_view paragraph) {
  std::vector<std::string> sentences;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 2 < paragraph.size(); ++i) {
    const bool stop = paragraph[i] == '.' || paragraph[i] == '!' || paragraph[i] == '?';
    if (!stop || paragraph[i + 1] != ' ') continue;
    const std::size_t next = std::min(paragraph.find_first_not_of(' ', i + 1), paragraph.size());
    if (!starts_like_a_sentence(paragraph.substr(next))) continue;
    sentences.emplace_back(paragraph.substr(begin, i + 1 - begin));
    begin = next;
  }
  if (begin < paragraph.size()) sentences.emplace_back(paragraph.substr(begin));
  return sentences;
}

void DebianDescriptions::read_english(const std::string& file) {
  for_each_description(file, {"Description", "Description-en"}, [&](const auto& checksum, const auto& lines) {
    std::vector<std::string> segments = segments_of_description(lines);
    std::vector<std::string>& known = english_[checksum];
    if (segments.size() > known.size()) known = std::move(segments);
  });
  counts_.english = static_cast<Index>(english_.size());
}

void DebianDescriptions::read_translations(const std::string& file, const std::string& language, const Use& use) {
  for_each_description(file, {"Description-" + language}, [&](const auto& checksum, const auto& lines) {
    ++counts_.translated;
    const auto found = english_.find(checksum);
    if (found == english_.end()) {
      ++counts_.without_english;
      return;
    }
    const std::vector<std::string>& english = found->second;
    const std::vector<std::string> translated = segments_of_description(lines);
    if (english.empty() || translated.empty()) return;
    use(english.front(), translated.front());
    if (english.size() != translated.size()) {
      ++counts_.other_segments;
      return;
    }
    for (std::size_t i = 1; i < english.size(); ++i) {
      const std::vector<std::string> a = sentences_of_paragraph(english[i]), b = sentences_of_paragraph(translated[i]);
      if (a.size() != b.size()) {
        use(english[i], translated[i]);
        continue;
      }
      for (std::size_t s = 0; s < a.size(); ++s) use(a[s], b[s]);
    }
  });
}

}  // namespace heed
