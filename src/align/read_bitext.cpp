#include "heed/align/read_bitext.h"

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {

std::int32_t WordNumbers::number(std::string_view word) {
  const auto found = numbers_.find(word);
  if (found != numbers_.end()) return found->second;
  const auto [added, is_new] = numbers_.emplace(word, static_cast<std::int32_t>(words_.size()));
  words_.push_back(&added->first);
  return added->second;
}

bool TextNumbers::number(std::string_view text, std::size_t longest, std::vector<std::int32_t>& numbers) {
  if (vocabulary) {
    numbers = vocabulary->encode(text);
    return numbers.size() <= longest;
  }
  const std::string small = lowercase ? lowercased(text) : std::string();
  const std::vector<std::string_view> found = words_of_line(lowercase ? small : text);
  numbers.clear();
  if (found.size() > longest) return false;
  for (const std::string_view word : found) numbers.push_back(words.number(word));
  return true;
}

std::string TextNumbers::text(std::int32_t number) const {
  return vocabulary ? vocabulary->piece(number) : words.word(number);
}

SampleFiles bitext_files(std::vector<std::string> files, bool allow_bad_lines) {
  SampleFiles all{.files = std::move(files), .allow_bad_lines = allow_bad_lines};
  if (all.files.size() > 1) all.format = "lines";
  return all;
}

SampleReport read_bitext(const SampleFiles& files, BitextReading& reading, Bitext& bitext) {
  Samples samples(files, {{.name = reading.columns.at(0)}, {.name = reading.columns.at(1)}});
  const std::size_t first = bitext.size();
  const auto fill_up = [&](std::size_t pairs) {
    for (; bitext.size() < first + pairs; bitext.target.add({})) bitext.source.add({});
  };
  std::vector<std::int32_t> source, target;
  for (Sample sample; samples.next(sample);) {
    fill_up(static_cast<std::size_t>(samples.number()));
    if (!reading.source.number(sample.inputs[0].text, reading.longest, source) ||
        !reading.target.number(sample.inputs[1].text, reading.longest, target)) {
      samples.report().add(SampleReport::kTooLong, samples.place().text());
    } else if (source.empty() || target.empty()) {
      samples.report().add(SampleReport::kEmpty, samples.place().text());
    } else {
      bitext.source.add(source);
      bitext.target.add(target);
    }
  }
  fill_up(static_cast<std::size_t>(samples.report().read));
  return samples.report();
}

}  // namespace heed
