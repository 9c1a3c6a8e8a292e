#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/corpora/catalog.h"

namespace heed {

// The catalogues for a language, sorted: files that are named are taken as they are; of a folder all .mo and .po below
// it that lie in a folder of the language's name (".../de/LC_MESSAGES/tar.mo") or carry it ("de.po", "tar_de.mo").
// A path that is not there is an Error.
std::vector<std::filesystem::path> find_catalogs(const std::vector<std::string>& paths, const std::string& language);

// Known by its first bytes: a .mo starts with its mark, everything else is a .po. Packed or not.
std::vector<CatalogMessage> read_catalog(const std::filesystem::path& path);

}  // namespace heed
