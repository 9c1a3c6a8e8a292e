#pragma once

#include <string>
#include <vector>

namespace heed {

// The standard input and pipes can be read once, a training reads its files several times. While one of these lives,
// what came out of those among `files` stands in temporary files without names, which go with the process, and
// whoever opens them by their own names (ByteReader, path_of) reads it from the beginning. All are read at once, so
// that one program may write into several. One that is there twice is an Error, as is a full disk.
class SpooledFiles {
 public:
  explicit SpooledFiles(const std::vector<std::string>& files);
  ~SpooledFiles();
  SpooledFiles(const SpooledFiles&) = delete;
  SpooledFiles& operator=(const SpooledFiles&) = delete;

 private:
  std::vector<std::string> names_;
};

// Whether a file's bytes come once: "-", the standard input, or a pipe, that is not spooled.
bool is_read_once(const std::string& file);
// Where the bytes of a file are: the file itself, or what was spooled of it.
std::string path_of(const std::string& file);

}  // namespace heed
