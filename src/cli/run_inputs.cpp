#include "heed/cli/run_inputs.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "heed/base/error.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& word) {
  std::error_code ignored;
  return fs::exists(word, ignored);
}

// A text has white space in it; anything else is the name of a file, also if it is misspelt.
bool is_typed(const std::string& word) { return word.find_first_of(" \t") != std::string::npos && !exists(word); }

// The files of a folder that may be of the kind, the last name first.
std::vector<std::string> files_of_kind(const std::string& folder, Kind kind) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::string ending = entry.path().extension().string();
    for (char& c : ending) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    for (const KindDecoder& decoder : kind_decoders())
      if (decoder.kind == kind && entry.is_regular_file() &&
          std::find(decoder.endings.begin(), decoder.endings.end(), ending) != decoder.endings.end()) {
        files.push_back(entry.path().string());
        break;
      }
  }
  std::sort(files.rbegin(), files.rend());
  require(!files.empty(), "{}: there is no {} in it that can be read here", folder, name_of(kind));
  return files;
}

}  // namespace

RunInputs::RunInputs(std::vector<std::string> words, const Job& job, bool lists)
    : words_(std::move(words)),
      texts_(is_text(job.inputs.front().kind)),
      kind_(job.inputs.front().kind),
      lists_(lists) {
  if (words_.empty()) words_.emplace_back("-");
}

bool RunInputs::next(std::string& line) {
  for (;;) {
    if (!files_.empty()) {
      line = std::move(files_.back());
      files_.pop_back();
      break;
    }
    if (reader_ && reader_->next(line)) {
      if (!texts_ && line.empty()) continue;
      if (!folder_.empty()) line = (fs::path(folder_) / line).string();
      break;
    }
    reader_.reset();
    if (at_ == words_.size()) return false;
    if (next_word(words_[at_++], line)) break;
  }
  ++number_;
  return true;
}

// Whether the word is an input by itself; otherwise it is opened.
bool RunInputs::next_word(const std::string& word, std::string& line) {
  if (texts_ ? word != "-" && is_typed(word) : !is_list(word) && !fs::is_directory(word)) {
    line = word;
    return true;
  }
  if (!texts_ && word != "-" && fs::is_directory(word)) {
    files_ = files_of_kind(word, kind_);
    return false;
  }
  require(!word.empty(), "an input on the command line is empty");
  require(word == "-" || exists(word), "{}: there is no such file{}", word,
          texts_ ? "; a text of one word is read from standard input" : "");
  reader_.emplace(word);
  folder_ = texts_ || word == "-" ? "" : fs::path(word).parent_path().string();
  return false;
}

std::string RunInputs::place() const {
  return reader_ ? fmt::format("{}, line {}", reader_->name(), reader_->number()) : fmt::format("input {}", number_);
}

bool RunInputs::are_typed_now() const {
  return words_.size() == 1 && words_.front() == "-" && ::isatty(STDIN_FILENO) == 1;
}

bool RunInputs::are_files() const { return words_.front() != "-" && !is_typed(words_.front()); }

bool RunInputs::need_names() const {
  const auto holds_several = [this](const std::string& word) { return is_list(word) || fs::is_directory(word); };
  return !texts_ && std::any_of(words_.begin(), words_.end(), holds_several);
}

}  // namespace heed::cli
