#include "heed/base/digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::uint64_t kBlock = 64 * 1024, kBlocks = kDigestedWhole / kBlock;

// A regular file that is open for reading.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : path_(path), number_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (number_ < 0 || ::fstat(number_, &status_) != 0) {
      const int reason = errno;
      close();
      fail("{}: cannot open it: {}", path_.string(), std::generic_category().message(reason));
    }
    if (S_ISREG(status_.st_mode)) return;
    close();
    fail("{}: it is not a regular file", path_.string());
  }
  ~OpenFile() { close(); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const struct stat& status() const { return status_; }
  // Adds up to `count` bytes from `at` on, and says how many there were.
  std::uint64_t add(Digest& digest, std::uint64_t at, std::uint64_t count) {
    std::uint64_t done = 0;
    while (done < count) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, buffer_.size()));
      const ssize_t got = ::pread(number_, buffer_.data(), wanted, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("{}: cannot read it: {}", path_.string(), std::generic_category().message(errno));
      if (got == 0) break;
      digest.add(std::span(buffer_).first(static_cast<std::size_t>(got)));
      done += static_cast<std::uint64_t>(got);
    }
    return done;
  }

 private:
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

  std::filesystem::path path_;
  int number_;
  struct stat status_ {};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 18);
};

}  // namespace

struct Digest::State {
  XXH3_state_t* hash = XXH3_createState();
  ~State() { XXH3_freeState(hash); }
};

Digest::Digest() : state_(std::make_unique<State>()) {
  if (state_->hash == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_->hash);
}
Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) { XXH3_128bits_update(state_->hash, bytes.data(), bytes.size()); }

std::string Digest::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->hash);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string digest_of_file(const std::filesystem::path& path) { return state_of_file(path, true).digest; }

namespace {

FileState state_of_folder(const std::filesystem::path& path, bool whole) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  FileState state{.sampled = !whole};
  Digest digest;
  for (const std::filesystem::path& file : files) {
    const std::uint64_t bytes = std::filesystem::file_size(file);
    state.bytes += bytes;
    const std::string line =
        fmt::format("{} {} {}\n", file.lexically_relative(path).string(), bytes, whole ? digest_of_file(file) : "");
    digest.add(std::as_bytes(std::span(line)));
  }
  state.digest = digest.text();
  return state;
}

}  // namespace

FileState state_of_file(const std::filesystem::path& path, bool whole) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return state_of_folder(path, whole);
  OpenFile file(path);
  FileState state;
  state.bytes = static_cast<std::uint64_t>(file.status().st_size);
  state.modified = std::int64_t{file.status().st_mtim.tv_sec} * 1'000'000'000 + file.status().st_mtim.tv_nsec;
  state.sampled = !whole && state.bytes > kDigestedWhole;
  Digest digest;
  if (state.sampled) {
    const std::uint64_t last = state.bytes - kBlock;
    for (std::uint64_t i = 0; i < kBlocks; ++i)
      file.add(digest, i + 1 < kBlocks ? last / (kBlocks - 1) * i : last, kBlock);
  } else {
    state.bytes = file.add(digest, 0, UINT64_MAX);
  }
  state.digest = digest.text();
  return state;
}

}  // namespace heed
