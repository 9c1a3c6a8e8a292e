#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed {

// What bytes are, in 32 hexadecimal digits: XXH3 of 128 bits (Collet, xxhash.com). Two files that differ by accident
// never have the same one; nothing here keeps a forger out.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::byte> bytes);
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of a whole regular file.
std::string digest_of_file(const std::filesystem::path& path);

// A file as it was when it was looked at.
struct FileState {
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
  std::string digest = {};    // of all bytes, or of those that were sampled
  bool sampled = false;
};
// A regular file, or all below a folder. A file of at most kDigestedWhole bytes is read whole, and so is any with
// `whole`. Of a larger one 1024 blocks of 64 KiB are read that are spread evenly from its first byte to its last: what
// changes between them is not seen. Of a folder the names and sizes of its files are taken, or with `whole` their
// digests.
inline constexpr std::uint64_t kDigestedWhole = std::uint64_t{64} << 20;
FileState state_of_file(const std::filesystem::path& path, bool whole);

}  // namespace heed
