#include "heed/cli/output.h"

#include <cstdio>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::cli {

std::string output_name(const std::string& path) { return is_standard_output(path) ? "standard output" : path; }

void write_output(const std::string& path, std::string_view bytes) {
  if (!is_standard_output(path)) return write_file(path, bytes);
  require(std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0,
          "{}: cannot write it", output_name(path));
}

void check_folder(const std::filesystem::path& folder) {
  require(!is_standard_output(folder.string()), "--output: it is a folder of files, which '-' cannot be");
}

}  // namespace heed::cli
