#include "heed/jobs/feature_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "heed/base/digest.h"
#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::size_t kReach = std::size_t{1} << 40;  // so much address space is set aside, not memory
constexpr std::size_t kUnit = 64, kDigits = 32;

std::size_t filled_up(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

struct FileHead {
  char mark[16] = {'h', 'e', 'e', 'd', ' ', 'f', 'e', 'a', 't', 'u', 'r', 'e', 's', ' ', '1', '\n'};
  char maker[kDigits] = {};
  std::uint64_t number_size = sizeof(Real), unused = 0;
};
static_assert(sizeof(FileHead) == kUnit);

// Whether a file has that head. An Error if it is of another kind.
bool has_head(int descriptor, const std::string& name, const FileHead& head) {
  FileHead found;
  const ssize_t size = ::pread(descriptor, &found, sizeof found, 0);
  require(size >= 0, "{}: it cannot be read: {}", name, std::strerror(errno));
  const std::size_t marked = std::min(static_cast<std::size_t>(size), sizeof found.mark);
  require(std::memcmp(found.mark, head.mark, marked) == 0, "{}: it is no file of features, and is left as it is", name);
  return size == sizeof found && std::memcmp(&found, &head, sizeof head) == 0;
}

std::string digest_of_numbers(const Tensor& numbers) {
  Digest digest;
  digest.add(std::as_bytes(numbers.values()));
  return digest.text();
}

}  // namespace

struct FeatureFile::Record {
  static constexpr std::uint64_t kMark = 0x6472'6f63'6572'2121ULL;
  std::uint64_t mark = kMark;
  char key[kDigits] = {}, check[kDigits] = {};
  Index length = 0, width = 0, rows = 0, columns = 0;
  FrameTimes frames = {};
  std::uint64_t unused = 0;

  // Whether the numbers end where the file does, or before.
  bool fits(std::size_t room) const {
    if (mark != kMark || length < 0 || width < 1) return false;
    const std::size_t most = room / sizeof(Real);
    return static_cast<std::size_t>(length) <= most / static_cast<std::size_t>(width);
  }
  std::size_t bytes() const { return static_cast<std::size_t>(length * width) * sizeof(Real); }
};

// The file from its beginning to where it may ever reach; what it does not have yet must not be touched.
struct FeatureFile::Mapping {
  explicit Mapping(int descriptor)
      : data(static_cast<std::byte*>(::mmap(nullptr, kReach, PROT_READ, MAP_SHARED, descriptor, 0))) {
    if (data == MAP_FAILED) data = nullptr;
  }
  ~Mapping() {
    if (data) ::munmap(data, kReach);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data;
};

FeatureFile::FeatureFile(const std::filesystem::path& path, const std::string& maker) : name_(path.string()) {
  static_assert(sizeof(Record) == 2 * kUnit);
  open();
  try {
    FileHead head;
    maker.copy(head.maker, kDigits);
    const bool ours = has_head(descriptor_, name_, head);
    if (!ours && appending_) {
      // Another process may still look at the old one: it keeps it.
      ::unlink(name_.c_str());
      ::close(std::exchange(descriptor_, -1));
      open();
      appending_ = appending_ && write_at(0, &head, sizeof head);
    }
    mapping_ = std::make_shared<const Mapping>(descriptor_);
    if (!mapping_->data) appending_ = false;
    end_ = sizeof head;
    if (mapping_->data && ours) read_records();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

void FeatureFile::open() {
  descriptor_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  require(descriptor_ >= 0, "{}: it cannot be opened for features: {}", name_, std::strerror(errno));
  appending_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
}

FeatureFile::~FeatureFile() { ::close(descriptor_); }

void FeatureFile::read_records() {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  while (end_ + sizeof(Record) <= size) {
    Record record;
    std::memcpy(&record, mapping_->data + end_, sizeof record);
    if (!record.fits(size - end_ - sizeof record)) break;
    places_.insert_or_assign(std::string(record.key, kDigits), Place{end_, false});
    end_ = std::min(size, end_ + sizeof record + filled_up(record.bytes()));
  }
  end_ = filled_up(end_);
  if (appending_ && ::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) appending_ = false;
}

Featured FeatureFile::view(std::size_t at) const {
  Record record;
  std::memcpy(&record, mapping_->data + at, sizeof record);
  using Owner = std::shared_ptr<const Mapping>;
  auto* numbers = reinterpret_cast<Real*>(mapping_->data + at + sizeof record);
  memory::Buffer buffer =
      memory::Buffer::foreign(numbers, new Owner(mapping_), [](void* owner) { delete static_cast<Owner*>(owner); });
  return {.features = Tensor(std::move(buffer), numbers, Shape{record.length, record.width}),
          .rows = record.rows,
          .columns = record.columns,
          .frames = record.frames};
}

std::optional<Featured> FeatureFile::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  Featured kept = view(found->second.at);
  if (!found->second.checked) {
    Record record;
    std::memcpy(&record, mapping_->data + found->second.at, sizeof record);
    if (digest_of_numbers(kept.features) != std::string_view(record.check, kDigits)) {
      places_.erase(found);
      return std::nullopt;
    }
    found->second.checked = true;
  }
  return kept;
}

bool FeatureFile::write_at(std::size_t at, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written, at += static_cast<std::size_t>(written), bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

// The whole record is in the file before its length says so.
bool FeatureFile::append(const Record& record, const Tensor& numbers) {
  const std::size_t next = end_ + sizeof record + filled_up(record.bytes());
  return next <= kReach && write_at(end_ + sizeof record, numbers.data(), record.bytes()) &&
         write_at(end_, &record, sizeof record) && ::ftruncate(descriptor_, static_cast<off_t>(next)) == 0;
}

Featured FeatureFile::keep(const std::string& key, const Featured& made) {
  Featured given = made;
  given.preview.clear();
  Record record;
  const Tensor numbers = made.features.contiguous();
  key.copy(record.key, kDigits);
  digest_of_numbers(numbers).copy(record.check, kDigits);
  record.length = numbers.size(0), record.width = numbers.size(1);
  record.rows = made.rows, record.columns = made.columns, record.frames = made.frames;
  const std::lock_guard lock(mutex_);
  if (const auto there = places_.find(key); there != places_.end()) return view(there->second.at);
  if (!appending_) return given;
  if (!append(record, numbers)) {  // the disk is full: go on without
    appending_ = false;
    return given;
  }
  places_.emplace(key, Place{end_, true});
  const std::size_t at = end_;
  end_ += sizeof record + filled_up(record.bytes());
  return view(at);
}

}  // namespace heed
