#pragma once

#include <string>
#include <vector>

#include "heed/base/digest.h"
#include "heed/jobs/training_options.h"

namespace heed {

// What a training reads: every file that its options name, as it was. Kept in the model folder as data.json, so that a
// training goes on with what it began with or says what is different. Files that the samples name (images, sounds) are
// not among them.
class TrainingData {
 public:
  // The files as they are now. Of large ones blocks are sampled, unless --digest is full (base/digest.h).
  explicit TrainingData(const Training& training);
  // As it was written; `file` leads the errors.
  static TrainingData from_json(const std::string& text, const std::string& file);
  std::string json() const;

  struct Difference {
    std::vector<std::string> changes;  // what is certainly different, a line for each file
    std::vector<std::string> doubts;   // sampled files with another time, of which nothing else is different
  };
  // Files are compared by their options and places there, whatever they are called now.
  Difference since(const TrainingData& before) const;

 private:
  struct File {
    std::string option, name, path;  // "source", "train.en", and where its bytes are
    FileState state;
  };
  TrainingData() = default;

  std::vector<File> files_;
};

}  // namespace heed
