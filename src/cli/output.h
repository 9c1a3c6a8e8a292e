#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "heed/base/file.h"

namespace heed::cli {

inline bool is_standard_output(const std::string& path) { return path == "-"; }
// What an error or a warning calls it.
std::string output_name(const std::string& path);
// A file that appears whole in finish(), or for "-" the standard output. Opened before long work, it says at once what
// cannot be written.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  void write(std::string_view bytes);
  void finish();

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
};
// All of it at once.
void write_output(const std::string& path, std::string_view bytes);
// An Error for "-": a folder of files cannot go to the standard output.
void check_folder(const std::filesystem::path& folder);

}  // namespace heed::cli
