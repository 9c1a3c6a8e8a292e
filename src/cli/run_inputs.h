#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/data/text_file.h"
#include "heed/jobs/job.h"

namespace heed::cli {

// What the inputs of a run come from, line by line: typed texts and files of lines; of images and sounds their files,
// folders of them (in the order of their names), and lists of them, which end in .txt.
class RunInputs {
 public:
  // With `lists` every word is a file of lines, whatever its ending.
  RunInputs(std::vector<std::string> words, const Job& job, bool lists = false);

  bool next(std::string& line);
  Index number() const { return number_; }  // of the last one, from 1
  std::string place() const;                // where it stands: "pairs.txt, line 3"
  bool are_typed_now() const;
  bool are_files() const;
  // Whether outputs need the name of what they are for: images or sounds of a folder or a list.
  bool need_names() const;

 private:
  bool next_word(const std::string& word, std::string& line);
  bool is_list(const std::string& word) const { return lists_ || word == "-" || word.ends_with(".txt"); }

  std::vector<std::string> words_;
  bool texts_ = true;  // or the names of images and sounds
  Kind kind_;
  bool lists_;
  std::optional<LineReader> reader_;  // of texts, or of a list
  std::string folder_;                // of the list
  std::vector<std::string> files_;    // of a folder, the next one last
  std::size_t at_ = 0;
  Index number_ = 0;
};

}  // namespace heed::cli
