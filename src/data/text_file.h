#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// The bytes of a file, or of the standard input for "-", in order. What gzip, xz, zstd or lz4 made is recognised by its
// first bytes, whatever the name, and unpacked on the way; several packed files one after another are one. A file that
// is missing, damaged or cut off is an Error with its name and the offset.
class ByteReader {
 public:
  explicit ByteReader(const std::string& path);
  ~ByteReader();
  ByteReader(ByteReader&&) noexcept;
  ByteReader& operator=(ByteReader&&) noexcept;

  // Fills the front of `bytes` and says how many there are; 0 at the end.
  std::size_t read(std::span<char> bytes);
  // "standard input" for "-".
  const std::string& name() const;

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

// Everything in a file, unpacked; more than `limit` bytes are an Error.
std::string read_unpacked(const std::string& path, std::size_t limit = std::size_t{1} << 30);

// The lines of a text file, in memory that does not grow with the file. Lines end with \n or \r\n; the last may go
// without. A byte order mark at the start is no part of the first line.
class LineReader {
 public:
  // A longer line is no text, and an Error, unless another limit is given.
  static constexpr std::size_t kLongestLine = std::size_t{1} << 24;

  explicit LineReader(const std::string& path, std::size_t longest = kLongestLine) : bytes_(path), longest_(longest) {}

  // False at the end of the file; `line` is then empty.
  bool next(std::string& line);
  // All lines that are left.
  std::vector<std::string> rest();
  // How many lines were given, which is the number of the last one, counted from 1.
  Index number() const { return number_; }
  const std::string& name() const { return bytes_.name(); }

 private:
  bool fill();

  ByteReader bytes_;
  std::size_t longest_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;  // what is read of the buffer, and what it holds
  Index number_ = 0;
};

// The parts of a line between tabs.
std::vector<std::string_view> columns_of_line(std::string_view line);
// The words of a line: what stands between spaces, tabs and other ASCII white space.
std::vector<std::string_view> words_of_line(std::string_view line);

}  // namespace heed
