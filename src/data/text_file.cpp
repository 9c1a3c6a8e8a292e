#include "heed/data/text_file.h"

#include <fcntl.h>
#include <lz4frame.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "heed/base/error.h"
#include "heed/data/spooled_files.h"

namespace heed {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16;

// The bytes as they are on the disk, with a view of those that were read and not yet used.
class RawFile {
 public:
  explicit RawFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
    if (const std::string place = path_of(path); place != "-") {
      descriptor_.number = ::open(place.c_str(), O_RDONLY | O_CLOEXEC);
      if (descriptor_.number < 0) fail("{}: cannot open it: {}", name_, std::generic_category().message(errno));
      struct stat status {};
      require(::fstat(descriptor_.number, &status) != 0 || !S_ISDIR(status.st_mode),
              "{}: it is a directory, not a file", name_);
    }
    // The longest mark of a packed format has 6 bytes; a pipe may give them one by one.
    while (left() < 6 && fill()) {
    }
  }

  // Reads more behind what is left; false at the end.
  bool fill() {
    std::memmove(bytes_.data(), bytes_.data() + at_, left());
    end_ -= at_;
    at_ = 0;
    while (true) {
      const ssize_t got = ::read(descriptor_.number, bytes_.data() + end_, bytes_.size() - end_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("{}: cannot read it: {}", name_, std::generic_category().message(errno));
      end_ += static_cast<std::size_t>(got);
      return got > 0;
    }
  }
  std::size_t left() const { return end_ - at_; }
  const char* data() const { return bytes_.data() + at_; }
  void use(std::size_t count) {
    at_ += count;
    used_ += count;
  }
  bool starts_with(std::string_view mark) const { return std::string_view(data(), left()).starts_with(mark); }
  std::size_t used() const { return used_; }
  const std::string& name() const { return name_; }

 private:
  // Closes what was opened, not the standard input.
  struct Descriptor {
    int number = STDIN_FILENO;
    Descriptor() = default;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
      if (number > STDIN_FILENO) ::close(number);
    }
  };

  std::string name_;
  Descriptor descriptor_;
  std::array<char, kChunk> bytes_;
  std::size_t at_ = 0, end_ = 0, used_ = 0;
};

}  // namespace

// One way to unpack. `read` is called with room for at least one byte.
class ByteReader::Source {
 public:
  explicit Source(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}
  virtual ~Source() = default;
  virtual std::size_t read(std::span<char> bytes) = 0;
  const std::string& name() const { return file_->name(); }

  class Plain;
  class Gzip;
  class Xz;
  class Zstd;
  class Lz4;

 protected:
  [[noreturn]] void fail_damaged(const char* format, std::string_view reason) const {
    fail("{}: its {} data is damaged at byte {}: {}", name(), format, file_->used(), reason);
  }
  [[noreturn]] void fail_cut_off(const char* format) const {
    fail("{}: its {} data is cut off after byte {}", name(), format, file_->used());
  }
  std::unique_ptr<RawFile> file_;
};

class ByteReader::Source::Plain final : public Source {
 public:
  using Source::Source;
  std::size_t read(std::span<char> bytes) override {
    if (file_->left() == 0 && !file_->fill()) return 0;
    const std::size_t count = std::min(bytes.size(), file_->left());
    std::memcpy(bytes.data(), file_->data(), count);
    file_->use(count);
    return count;
  }
};

class ByteReader::Source::Gzip final : public Source {
 public:
  explicit Gzip(std::unique_ptr<RawFile> file) : Source(std::move(file)) {
    constexpr int kGzipOnly = 16;
    require(inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK, "{}: no memory to unpack it", name());
  }
  ~Gzip() override { inflateEnd(&stream_); }
  std::size_t read(std::span<char> bytes) override {
    while (!finished_) {
      if (file_->left() == 0 && !file_->fill()) {
        if (inside_) fail_cut_off("gzip");
        finished_ = true;
        break;
      }
      inside_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file_->data()));
      stream_.avail_in = static_cast<uInt>(file_->left());
      stream_.next_out = reinterpret_cast<Bytef*>(bytes.data());
      stream_.avail_out = static_cast<uInt>(bytes.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      file_->use(file_->left() - stream_.avail_in);
      if (status == Z_STREAM_END) {
        inside_ = false;  // another member may follow
        inflateReset(&stream_);
      } else if (status != Z_OK) {
        fail_damaged("gzip", stream_.msg ? stream_.msg : "not a gzip stream");
      }
      if (const std::size_t made = bytes.size() - stream_.avail_out; made > 0) return made;
    }
    return 0;
  }

 private:
  z_stream stream_{};
  bool inside_ = false, finished_ = false;
};

class ByteReader::Source::Xz final : public Source {
 public:
  explicit Xz(std::unique_ptr<RawFile> file) : Source(std::move(file)) {
    constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;
    require(lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) == LZMA_OK, "{}: no memory to unpack it",
            name());
  }
  ~Xz() override { lzma_end(&stream_); }
  std::size_t read(std::span<char> bytes) override {
    while (!finished_) {
      const bool ended = file_->left() == 0 && !file_->fill();
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(file_->data());
      stream_.avail_in = file_->left();
      stream_.next_out = reinterpret_cast<std::uint8_t*>(bytes.data());
      stream_.avail_out = bytes.size();
      const lzma_ret status = lzma_code(&stream_, ended ? LZMA_FINISH : LZMA_RUN);
      file_->use(file_->left() - stream_.avail_in);
      if (status == LZMA_STREAM_END) {
        finished_ = true;
      } else if (status == LZMA_BUF_ERROR) {
        fail_cut_off("xz");
      } else if (status != LZMA_OK) {
        fail_damaged("xz", status == LZMA_DATA_ERROR       ? "a checksum or a code is wrong"
                           : status == LZMA_FORMAT_ERROR   ? "not an xz stream"
                           : status == LZMA_MEMLIMIT_ERROR ? "it asks for more than 1 GiB of memory"
                                                           : "it cannot be unpacked");
      }
      if (const std::size_t made = bytes.size() - stream_.avail_out; made > 0) return made;
    }
    return 0;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool finished_ = false;
};

class ByteReader::Source::Zstd final : public Source {
 public:
  explicit Zstd(std::unique_ptr<RawFile> file) : Source(std::move(file)), stream_(ZSTD_createDStream()) {
    require(stream_ != nullptr, "{}: no memory to unpack it", name());
  }
  ~Zstd() override { ZSTD_freeDStream(stream_); }
  std::size_t read(std::span<char> bytes) override {
    while (true) {
      const bool ended = file_->left() == 0 && !file_->fill();
      if (ended && !inside_) return 0;
      ZSTD_inBuffer in{file_->data(), file_->left(), 0};
      ZSTD_outBuffer out{bytes.data(), bytes.size(), 0};
      const std::size_t status = ZSTD_decompressStream(stream_, &out, &in);
      file_->use(in.pos);
      if (ZSTD_isError(status)) fail_damaged("zstd", ZSTD_getErrorName(status));
      inside_ = status != 0;  // 0: a frame is complete and given out whole
      if (out.pos > 0) return out.pos;
      if (ended && inside_) fail_cut_off("zstd");
    }
  }

 private:
  ZSTD_DStream* stream_;
  bool inside_ = false;
};

class ByteReader::Source::Lz4 final : public Source {
 public:
  explicit Lz4(std::unique_ptr<RawFile> file) : Source(std::move(file)) {
    require(!LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)), "{}: no memory to unpack it",
            name());
  }
  ~Lz4() override { LZ4F_freeDecompressionContext(context_); }
  std::size_t read(std::span<char> bytes) override {
    while (true) {
      const bool ended = file_->left() == 0 && !file_->fill();
      if (ended && !inside_) return 0;
      std::size_t taken = file_->left(), made = bytes.size();
      const std::size_t status = LZ4F_decompress(context_, bytes.data(), &made, file_->data(), &taken, nullptr);
      file_->use(taken);
      if (LZ4F_isError(status)) fail_damaged("lz4", LZ4F_getErrorName(status));
      inside_ = status != 0;  // 0: a frame is complete and given out whole
      if (made > 0) return made;
      if (ended && inside_) fail_cut_off("lz4");
    }
  }

 private:
  LZ4F_dctx* context_ = nullptr;
  bool inside_ = false;
};

ByteReader::ByteReader(const std::string& path) {
  auto file = std::make_unique<RawFile>(path);
  if (file->starts_with("\x1f\x8b")) {
    source_ = std::make_unique<Source::Gzip>(std::move(file));
  } else if (file->starts_with(std::string_view("\xfd"
                                                "7zXZ\0",
                                                6))) {
    source_ = std::make_unique<Source::Xz>(std::move(file));
  } else if (file->starts_with("\x28\xb5\x2f\xfd")) {
    source_ = std::make_unique<Source::Zstd>(std::move(file));
  } else if (file->starts_with("\x04\x22\x4d\x18")) {
    source_ = std::make_unique<Source::Lz4>(std::move(file));
  } else {
    source_ = std::make_unique<Source::Plain>(std::move(file));
  }
}
ByteReader::~ByteReader() = default;
ByteReader::ByteReader(ByteReader&&) noexcept = default;
ByteReader& ByteReader::operator=(ByteReader&&) noexcept = default;

std::size_t ByteReader::read(std::span<char> bytes) { return bytes.empty() ? 0 : source_->read(bytes); }
const std::string& ByteReader::name() const { return source_->name(); }

std::string read_unpacked(const std::string& path, std::size_t limit) {
  ByteReader reader(path);
  std::string bytes;
  std::vector<char> chunk(kChunk);
  while (const std::size_t count = reader.read(chunk)) {
    bytes.append(chunk.data(), count);
    require(bytes.size() <= limit, "{}: it has more than the {} bytes allowed", reader.name(), limit);
  }
  return bytes;
}

bool LineReader::fill() {
  buffer_.resize(kChunk);
  at_ = 0;
  end_ = bytes_.read(buffer_);
  return end_ > 0;
}

bool LineReader::next(std::string& line) {
  line.clear();
  bool found = false;  // of the line, anything at all
  while (at_ < end_ || fill()) {
    found = true;
    const char* const begin = buffer_.data() + at_;
    const auto* const feed = static_cast<const char*>(std::memchr(begin, '\n', end_ - at_));
    const std::size_t count = feed ? static_cast<std::size_t>(feed - begin) : end_ - at_;
    line.append(begin, count);
    require(line.size() <= longest_, "{}: line {} is longer than {} bytes; is it a text file?", name(), number_ + 1,
            longest_);
    at_ += count;
    if (feed) {
      ++at_;
      break;
    }
  }
  if (!found) return false;
  if (line.ends_with('\r')) line.pop_back();
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (number_ == 0 && line.starts_with(kMark)) line.erase(0, kMark.size());
  ++number_;
  return true;
}

std::vector<std::string> LineReader::rest() {
  std::vector<std::string> lines;
  for (std::string line; next(line);) lines.push_back(line);
  return lines;
}

std::vector<std::string_view> columns_of_line(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t tab; (tab = line.find('\t')) != std::string_view::npos; line.remove_prefix(tab + 1))
    columns.push_back(line.substr(0, tab));
  columns.push_back(line);
  return columns;
}

std::vector<std::string_view> words_of_line(std::string_view line) {
  constexpr std::string_view kWhiteSpace = " \t\v\f\r\n";
  std::vector<std::string_view> words;
  for (std::size_t begin; (begin = line.find_first_not_of(kWhiteSpace)) != std::string_view::npos;) {
    line.remove_prefix(begin);
    const std::size_t length = std::min(line.find_first_of(kWhiteSpace), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
  return words;
}

}  // namespace heed
