#include "heed/data/archive.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTarBlock = 512, kLongestName = 1 << 16, kLargestUnpacked = std::size_t{1} << 32;
constexpr std::size_t kKept = 4;  // archives that stay open

// Fields of a header block: where each begins and how long it is (POSIX 1003.1, ustar).
struct HeaderField {
  std::size_t at, size;
};
constexpr HeaderField kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 5}, kPrefix{345, 155};
constexpr std::size_t kType = 156;

std::string_view text_of(std::string_view block, HeaderField field) {
  const std::string_view text = block.substr(field.at, field.size);
  return text.substr(0, text.find('\0'));
}

// Octal digits with blanks around them; or, if the first bit is set, a number of base 256 (GNU). Nothing if neither.
std::optional<std::size_t> number_of(std::string_view block, HeaderField field) {
  constexpr std::size_t kMost = std::size_t{1} << 56;
  const std::string_view text = block.substr(field.at, field.size);
  std::size_t number = 0;
  if (static_cast<unsigned char>(text[0]) >= 0x80) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      number =
          number * 256 + (i == 0 ? static_cast<unsigned char>(text[0]) & 0x7FU : static_cast<unsigned char>(text[i]));
      if (number > kMost) return std::nullopt;
    }
    return number;
  }
  std::size_t i = 0;
  while (i < text.size() && text[i] == ' ') ++i;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '7'; ++i)
    number = number * 8 + static_cast<std::size_t>(text[i] - '0');
  if (i < text.size() && text[i] != ' ' && text[i] != '\0') return std::nullopt;
  return number;
}

// The sum of the block's bytes, those of the sum itself as blanks.
bool is_header(std::string_view block) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i)
    sum += i >= kChecksum.at && i < kChecksum.at + kChecksum.size ? ' ' : static_cast<unsigned char>(block[i]);
  return number_of(block, kChecksum) == sum;
}

// The value of a keyword in records "LENGTH keyword=value\n" (pax); nothing if it is not there.
std::optional<std::string> pax_value(std::string_view records, std::string_view keyword) {
  std::optional<std::string> found;
  while (!records.empty()) {
    std::size_t length = 0, at = 0;
    while (at < records.size() && records[at] >= '0' && records[at] <= '9' && length <= records.size())
      length = length * 10 + static_cast<std::size_t>(records[at++] - '0');
    if (length <= at + 1 || length > records.size()) return found;
    const std::string_view record = records.substr(at + 1, length - at - 2);
    const std::size_t equals = record.find('=');
    if (equals != std::string_view::npos && record.substr(0, equals) == keyword)
      found = std::string(record.substr(equals + 1));
    records.remove_prefix(length);
  }
  return found;
}

std::string without_dot(std::string name) {
  while (name.starts_with("./")) name.erase(0, 2);
  return name;
}

class Archive {
 public:
  explicit Archive(const std::string& path) : mapped_(std::make_unique<MappedFile>(path)) {
    const std::span<const std::byte> all = std::as_const(*mapped_).bytes();
    bytes_ = {reinterpret_cast<const char*>(all.data()), all.size()};
    if (bytes_.size() < kTarBlock || !is_header(bytes_.substr(0, kTarBlock))) {
      unpacked_ = read_unpacked(path, kLargestUnpacked);
      bytes_ = unpacked_;
      mapped_.reset();
    }
    for (TarMember& member : tar_members(bytes_, path)) members_[member.name] = {member.offset, member.size};
  }
  // Nothing if there is no such file.
  std::optional<std::string_view> find(const std::string& name) const {
    const auto found = members_.find(name);
    if (found == members_.end()) return std::nullopt;
    return bytes_.substr(found->second.offset, found->second.size);
  }

 private:
  struct Place {
    std::size_t offset, size;
  };
  std::unique_ptr<MappedFile> mapped_;
  std::string unpacked_;
  std::string_view bytes_;
  std::unordered_map<std::string, Place> members_;
};

// The archive as it is now on the disk; those used last are kept.
std::shared_ptr<const Archive> opened(const fs::path& path) {
  struct Kept {
    std::string path;
    fs::file_time_type written;
    std::shared_ptr<const Archive> archive;
  };
  static std::mutex mutex;
  static std::vector<Kept> kept;  // the one used last is at the end
  const std::lock_guard lock(mutex);
  const fs::file_time_type written = fs::last_write_time(path);
  const auto known = std::find_if(kept.begin(), kept.end(),
                                  [&](const Kept& k) { return k.path == path.string() && k.written == written; });
  if (known != kept.end()) {
    std::rotate(known, known + 1, kept.end());
    return kept.back().archive;
  }
  if (kept.size() == kKept) kept.erase(kept.begin());
  kept.push_back({path.string(), written, std::make_shared<const Archive>(path.string())});
  return kept.back().archive;
}

// The file that a path goes through, if there is one: the first of its parents that is no folder.
fs::path archive_in(const fs::path& path) {
  std::error_code none;
  fs::path parent = path.parent_path();
  while (!parent.empty() && parent != parent.parent_path() && !fs::exists(parent, none)) parent = parent.parent_path();
  return fs::is_regular_file(parent, none) ? parent : fs::path();
}

}  // namespace

std::vector<TarMember> tar_members(std::string_view bytes, const std::string& name) {
  std::vector<TarMember> members;
  std::string long_name;                // of the member that follows
  std::optional<std::string> pax_size;  // likewise
  std::size_t at = 0;
  while (at + kTarBlock <= bytes.size()) {
    const std::string_view block = bytes.substr(at, kTarBlock);
    if (block.find_first_not_of('\0') == std::string_view::npos) break;  // the end
    const std::optional<std::size_t> stated = number_of(block, kSize);
    require(is_header(block) && stated, "{}: it is no tar, or its header at byte {} is damaged", name, at);
    std::size_t size = *stated;
    const char type = block[kType];
    if (pax_size && type != 'x') {
      const std::string digits = *std::exchange(pax_size, std::nullopt);
      require(!digits.empty() && digits.size() < 18 && digits.find_first_not_of("0123456789") == std::string::npos,
              "{}: the size {} at byte {} is no number", name, digits, at);
      size = std::stoull(digits);
    }
    at += kTarBlock;
    require(size <= bytes.size() - at, "{}: it is cut off inside the member at byte {}", name, at - kTarBlock);
    const std::string_view body = bytes.substr(at, size);
    if (type == 'L') {
      require(size <= kLongestName, "{}: the name at byte {} is too long", name, at);
      long_name = body.substr(0, body.find('\0'));
    } else if (type == 'x') {
      require(size <= kLongestName, "{}: the header at byte {} is too long", name, at);
      if (std::optional<std::string> path = pax_value(body, "path")) long_name = std::move(*path);
      pax_size = pax_value(body, "size");
    } else if (type == '0' || type == '\0' || type == '7') {
      std::string plain(text_of(block, kName));
      const std::string_view prefix = text_of(block, kPrefix);
      if (block.substr(kMagic.at, kMagic.size) == "ustar" && !prefix.empty()) plain = std::string(prefix) + "/" + plain;
      members.push_back({without_dot(long_name.empty() ? plain : long_name), at, size});
    }
    if (type != 'L' && type != 'x') long_name.clear();
    const std::size_t padded = (size + kTarBlock - 1) / kTarBlock * kTarBlock;
    at += std::min(padded, bytes.size() - at);
  }
  return members;
}

std::string read_file_or_member(const fs::path& path, std::size_t limit) {
  const fs::path archive = archive_in(path);
  if (archive.empty()) return read_file(path, limit);
  const std::shared_ptr<const Archive> tar = opened(archive);
  const std::string name = path.lexically_relative(archive).generic_string();
  const std::optional<std::string_view> member = tar->find(name);
  require(member.has_value(), "{}: there is no {} in it", archive.string(), name);
  require(member->size() <= limit, "{}: it has more than {} bytes", path.string(), limit);
  return std::string(*member);
}

}  // namespace heed
