#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/digest.h"

namespace heed {

// A file that appears whole or not at all. It is written beside its place as `<name>.<random>.partial` and takes its
// name, and the place of an older file, only in commit(); without commit() the destructor removes it. A process that
// is killed leaves the older file as it was (and perhaps a .partial file, which nothing reads). The permissions are
// the older file's, or what the umask leaves of rw-rw-rw-. A symbolic link is followed, not replaced.
// Every failure, a full disk included, is an Error with the file's name and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // Puts everything on the disk, then renames. Nothing can be written afterwards. `before` is told the digest of all
  // that was written when nothing but the rename is left to be done; what it throws leaves the older file.
  using BeforeRename = std::function<void(const std::string& digest)>;
  void commit(const BeforeRename& before = {});
  // The same without waiting for the disk; put_on_disk does that for many files at once.
  void commit_soon();

 private:
  void write_through(std::span<const std::byte> bytes);
  void flush();
  void take_name(bool on_disk, const BeforeRename& before);
  void abandon() noexcept;

  std::filesystem::path path_, target_, partial_;  // as given; with links followed; while writing
  std::vector<std::byte> waiting_;                 // small writes, gathered
  Digest digest_;
  int descriptor_ = -1;
};

// The whole text as a file, by way of AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text);

// Puts everything that was written to the file system of a folder on the disk.
void put_on_disk(const std::filesystem::path& folder);

// A whole file in memory, read from the disk as it is touched. The pages are private: writing to them changes neither
// the file nor another mapping. A program that shortens the file in place while it is mapped takes the pages away and
// the next access faults; AtomicFile never does so.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<std::byte> bytes() { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Everything in a file (or pipe), at most `limit` bytes: a larger one is an Error.
std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{1} << 30);

}  // namespace heed
