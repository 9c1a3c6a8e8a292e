#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// Archives of many files, read where they lie. A path may go through one as through a folder:
// "photos.tar.zst/2012/dog.jpg".

namespace heed {

// One file in a tar: ustar, with the long names of GNU and of POSIX (pax). What is no file is passed over.
struct TarMember {
  std::string name;  // without "./" at its beginning
  std::size_t offset = 0, size = 0;
};
// All files in the bytes of a tar, in their order. A header that is damaged or a member that is cut off is an Error
// that leads with `name`.
std::vector<TarMember> tar_members(std::string_view bytes, const std::string& name);

// The bytes of a file, or of the file in a tar that its path goes through; the tar may be packed (gzip, xz, zstd, lz4).
// More than `limit` bytes are an Error. The archives read last stay open: a plain tar is mapped, a packed one is
// unpacked in memory. Many threads may call it.
std::string read_file_or_member(const std::filesystem::path& path, std::size_t limit);

}  // namespace heed
