#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/samples.h"

namespace heed {

// The texts that a vocabulary learns from.
class TrainingText {
 public:
  using Use = std::function<void(std::string_view text)>;

  // Every line of the files that is valid UTF-8. Too many others in one of them are an Error, unless they are allowed.
  TrainingText(std::vector<std::string> files, bool allow_bad_lines = false);  // NOLINT: files of lines are text
  // What stands in some columns of samples.
  TrainingText(SampleFiles files, std::vector<SampleColumn> columns, std::vector<std::string> wanted);

  // The texts of both, one after the other.
  TrainingText& operator+=(const TrainingText& other);
  // Calls `use` with each text. Where there is nothing at all it is an Error that starts with [who].
  void each(std::string_view who, const Use& use) const;

 private:
  std::vector<std::function<void(const Use&)>> parts_;
  std::vector<std::string> names_;  // of the files
};

}  // namespace heed
