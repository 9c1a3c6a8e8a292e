#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "heed/data/sense.h"

namespace heed {

// Features by the digest (base/digest.h) of what they are of, in one file that grows while it is used:
//   64 bytes   "heed features 1\n", the digest of who made them, the size of a number
//   records    128 bytes: the digests of the input and of the numbers, and their shape; then the numbers, both filled
//   up
//              to 64 bytes
// A process that is killed leaves at worst a record that is not whole at the end: it is cut off when the file is opened
// again. Numbers are compared with their digest before they are first given out. What is given out are views of the
// mapped file. One process at a time appends; another one reads what is there, and keeps what it makes in memory.
class FeatureFile {
 public:
  // What another maker left is thrown away. An Error if there is a file of another kind, or none can be made.
  FeatureFile(const std::filesystem::path& path, const std::string& maker);
  ~FeatureFile();
  FeatureFile(const FeatureFile&) = delete;
  FeatureFile& operator=(const FeatureFile&) = delete;

  // The members may be called by many threads. Previews are not kept.
  std::optional<Featured> find(const std::string& key);
  // As they are kept, or as they were given where they cannot be kept (no room, another process has the file).
  Featured keep(const std::string& key, const Featured& made);

 private:
  struct Record;
  struct Mapping;
  struct Place {
    std::size_t at;
    bool checked;
  };
  void open();
  void read_records();
  Featured view(std::size_t at) const;
  bool write_at(std::size_t at, const void* data, std::size_t bytes);
  bool append(const Record& record, const Tensor& numbers);

  std::string name_;
  int descriptor_ = -1;
  bool appending_ = false;
  std::size_t end_ = 0;
  std::shared_ptr<const Mapping> mapping_;
  std::mutex mutex_;  // guards what follows and the file
  std::map<std::string, Place> places_;
};

}  // namespace heed
