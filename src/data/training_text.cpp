#include "heed/data/training_text.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {

TrainingText::TrainingText(std::vector<std::string> files, bool allow_bad_lines) : names_(files) {
  parts_.emplace_back([files = std::move(files), allow_bad_lines](const Use& use) {
    for (const std::string& file : files) {
      LineReader reader(file);
      Index bad = 0;
      for (std::string line; reader.next(line);) {
        const bool text = line.find('\0') == std::string::npos && valid_utf8(line);
        bad += !text;
        if (text && !line.empty()) use(line);
      }
      require(
          allow_bad_lines || !SampleReport::are_too_many(bad, reader.number()),
          "{}: {} of its {} lines are not UTF-8 or have a zero byte in them, as UTF-16 has (--allow-bad-lines goes on "
          "without them)",
          reader.name(), bad, reader.number());
    }
  });
}

TrainingText::TrainingText(SampleFiles files, std::vector<SampleColumn> columns, std::vector<std::string> wanted)
    : names_(files.files) {
  parts_.emplace_back(
      [files = std::move(files), columns = std::move(columns), wanted = std::move(wanted)](const Use& use) {
        const auto is_wanted = [&wanted](const SampleColumn& column) {
          return std::find(wanted.begin(), wanted.end(), column.name) != wanted.end();
        };
        Samples samples(files, columns);
        for (Sample sample; samples.next(sample);) {
          std::size_t input = 0;
          for (const SampleColumn& column : columns) {
            if (column.output) {
              if (is_wanted(column))
                for (const std::string& text : sample.outputs) use(text);
              continue;
            }
            if (is_wanted(column)) use(sample.inputs[input].text);
            ++input;
          }
        }
      });
}

TrainingText& TrainingText::operator+=(const TrainingText& other) {
  parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
  names_.insert(names_.end(), other.names_.begin(), other.names_.end());
  return *this;
}

void TrainingText::each(std::string_view who, const Use& use) const {
  require(!names_.empty(), "[{}] no file to learn from", who);
  bool used = false;
  for (const auto& part : parts_)
    part([&](std::string_view text) {
      use(text);
      used = true;
    });
  require(used, "[{}] there is no text to learn from in {}{}", who, names_.front(),
          names_.size() > 1 ? fmt::format(" and {} more", names_.size() - 1) : "");
}

}  // namespace heed
