#include "heed/data/corpora/gettext.h"

#include <algorithm>
#include <array>
#include <set>

#include "heed/base/error.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

bool is_catalog(const fs::path& path) {
  static constexpr std::array<std::string_view, 5> kEndings{".mo", ".po", ".gmo", ".po.gz", ".mo.gz"};
  const std::string name = path.filename().string();
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

// Whether a file below a folder is for the language: by a folder on the way, or by its name.
bool is_for(const fs::path& path, const std::string& language) {
  const std::string name = path.filename().string(), stem = name.substr(0, name.find_first_of('.'));
  for (const char* const before : {"-", "_"})
    if (stem.ends_with(before + language)) return true;
  if (stem == language || name.find("." + language + ".") != std::string::npos) return true;
  const fs::path folder = path.parent_path();
  return std::any_of(folder.begin(), folder.end(), [&](const fs::path& part) { return part == language; });
}

}  // namespace

std::vector<fs::path> find_catalogs(const std::vector<std::string>& paths, const std::string& language) {
  require(!language.empty(), "[gettext] there is no language to look for");
  std::set<fs::path> found;
  for (const std::string& path : paths) {
    std::error_code reason;
    if (fs::is_regular_file(path, reason)) {
      found.insert(path);
      continue;
    }
    fs::recursive_directory_iterator below(path, fs::directory_options::skip_permission_denied, reason);
    require(!reason, "{}: cannot look into it: {}", path, reason.message());
    for (; below != fs::recursive_directory_iterator(); below.increment(reason)) {
      require(!reason, "{}: cannot look into it: {}", path, reason.message());
      const fs::path& file = below->path();
      if (is_catalog(file) && is_for(file.lexically_relative(path), language) && below->is_regular_file(reason))
        found.insert(file);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<CatalogMessage> read_catalog(const fs::path& path) {
  const std::string bytes = read_unpacked(path.string());
  const bool compiled = bytes.starts_with("\xde\x12\x04\x95") || bytes.starts_with("\x95\x04\x12\xde");
  return compiled ? read_compiled_catalog(bytes, path.string()) : read_source_catalog(bytes, path.string());
}

}  // namespace heed
