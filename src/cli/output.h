#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace heed::cli {

inline bool is_standard_output(const std::string& path) { return path == "-"; }
// What an error or a warning calls it.
std::string output_name(const std::string& path);
// All of a file at once; for "-" to the standard output.
void write_output(const std::string& path, std::string_view bytes);
// An Error for "-": a folder of files cannot go to the standard output.
void check_folder(const std::filesystem::path& folder);

}  // namespace heed::cli
