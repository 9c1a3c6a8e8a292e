#include "heed/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::size_t kGathered = 64 * 1024;  // smaller writes wait until they are this much
constexpr std::size_t kFirstRead = 4096;      // asked for when the size is unknown

[[noreturn]] void fail_with_reason(const std::filesystem::path& path, const char* what, int reason = errno) {
  fail("{}: {}: {}", path.string(), what, std::generic_category().message(reason));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// The status of a file open for reading; a directory opens, but has no bytes to read.
struct stat readable_status(const std::filesystem::path& path, int descriptor) {
  if (descriptor < 0) fail_with_reason(path, "cannot open it");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_with_reason(path, "cannot read its status");
  require(!S_ISDIR(status.st_mode), "{}: it is a directory, not a file", path.string());
  return status;
}

// Where the bytes go in the end: the file a link leads to, even if it is not there yet.
std::filesystem::path follow_links(std::filesystem::path path) {
  std::error_code ignored;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, ignored); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, ignored);
    if (ignored) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

// Makes the rename itself last. Some file systems cannot do this for a folder and say EINVAL.
void sync_folder(const std::filesystem::path& path, const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder one may write to but not list cannot be opened; the file itself is safe all the same.
  if (descriptor.number() < 0 && errno == EACCES) return;
  if (descriptor.number() < 0 || (::fsync(descriptor.number()) != 0 && errno != EINVAL))
    fail_with_reason(path, "it is written, but its folder cannot be put on the disk");
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path), target_(follow_links(path)) {
  require(target_.has_filename(), "{}: it names no file to write", path_.string());
  struct stat old {};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  // Renaming over a directory fails late, over a device such as /dev/null succeeds and replaces it.
  require(!exists || !S_ISDIR(old.st_mode), "{}: it is a directory, not a file", path_.string());
  require(!exists || S_ISREG(old.st_mode), "{}: it is not a regular file and cannot be replaced", path_.string());

  std::random_device random;
  do {
    partial_ = target_;
    partial_ += fmt::format(".{:08x}.partial", random());
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int reason = errno;
    partial_.clear();
    fail_with_reason(path_, "cannot write beside it", reason);
  }
  if (exists && ::fchmod(descriptor_, old.st_mode & 07777) != 0) {
    const int reason = errno;
    abandon();
    fail_with_reason(path_, "cannot keep its permissions", reason);
  }
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::abandon() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_.clear();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  require(descriptor_ >= 0, "{}: nothing can be written after commit or a failure", path_.string());
  if (waiting_.size() + bytes.size() > kGathered) flush();
  if (bytes.size() >= kGathered) return write_through(bytes);
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
}

void AtomicFile::flush() {
  write_through(waiting_);
  waiting_.clear();
}

void AtomicFile::write_through(std::span<const std::byte> bytes) {
  digest_.add(bytes);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = written < 0 ? errno : EIO;
      abandon();  // at once: on a full disk others need the room
      fail_with_reason(path_, "cannot write it", reason);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit(const BeforeRename& before) {
  take_name(true, before);
  sync_folder(path_, target_);
}

void AtomicFile::commit_soon() { take_name(false, {}); }

void AtomicFile::take_name(bool on_disk, const BeforeRename& before) {
  require(descriptor_ >= 0, "{}: nothing can be written after commit or a failure", path_.string());
  flush();
  const auto give_up = [this](const char* what) {
    const int reason = errno;
    abandon();
    fail_with_reason(path_, what, reason);
  };
  if (on_disk && ::fsync(descriptor_) != 0) give_up("cannot put it on the disk");
  const int descriptor = descriptor_;
  descriptor_ = -1;
  // Closed whatever the answer; over a network this may be where a write fails.
  if (::close(descriptor) != 0) give_up("cannot close it");
  if (before) before(digest_.text());
  if (::rename(partial_.c_str(), target_.c_str()) != 0) give_up("cannot rename the finished file to it");
  partial_.clear();
}

void put_on_disk(const std::filesystem::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() < 0 || ::syncfs(descriptor.number()) != 0)
    fail_with_reason(folder, "cannot put it on the disk");
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const struct stat status = readable_status(path, descriptor.number());
  require(S_ISREG(status.st_mode), "{}: it is not a regular file", path.string());
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // the system maps no empty range
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor.number(), 0);
  if (memory == MAP_FAILED) fail_with_reason(path, "cannot map it into memory");
  data_ = static_cast<std::byte*>(memory);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_);
}

std::string read_file(const std::filesystem::path& path, std::size_t limit) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const struct stat status = readable_status(path, descriptor.number());
  const std::size_t expected = S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
  require(expected <= limit, "{}: its {} bytes are more than the {} allowed", path.string(), expected, limit);
  // The size is a hint: pipes and files of /proc have none, and a file may grow while it is read.
  std::string text;
  std::size_t filled = 0;
  while (true) {
    if (filled == text.size()) text.resize(filled == 0 ? std::max(expected + 1, kFirstRead) : 2 * filled);
    const ssize_t got = ::read(descriptor.number(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_reason(path, "cannot read it");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    require(filled <= limit, "{}: it has more than the {} bytes allowed", path.string(), limit);
  }
  text.resize(filled);
  return text;
}

}  // namespace heed
