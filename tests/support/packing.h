#pragma once

#include <string>

namespace heed::test {

// The bytes as the formats' own tools would pack them.
std::string gzipped(const std::string& text);
std::string xz_packed(const std::string& text);
std::string zstd_packed(const std::string& text);
std::string lz4_packed(const std::string& text);

}  // namespace heed::test
