#include "heed/cli/output.h"

#include <cstdio>

#include "heed/base/error.h"

namespace heed::cli {

std::string output_name(const std::string& path) { return is_standard_output(path) ? "standard output" : path; }

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (!is_standard_output(path)) file_.emplace(path);
}

void OutputFile::write(std::string_view bytes) {
  if (file_) return file_->write(bytes);
  require(std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size(), "{}: cannot write it",
          output_name(path_));
}

void OutputFile::finish() {
  if (file_) return file_->commit();
  require(std::fflush(stdout) == 0, "{}: cannot write it", output_name(path_));
}

void write_output(const std::string& path, std::string_view bytes) {
  OutputFile output(path);
  output.write(bytes);
  output.finish();
}

void check_folder(const std::filesystem::path& folder) {
  require(!is_standard_output(folder.string()), "--output: it is a folder of files, which '-' cannot be");
}

}  // namespace heed::cli
