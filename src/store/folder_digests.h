#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "heed/base/file.h"

namespace heed {

// The digests of a folder's files, kept in it as digests.json, so that damage is seen:
//   {"hash": "XXH3-128", "files": {"config.json": ["..."], "checkpoint/training.safetensors": ["...", "..."]}}
//
// A file that is replaced has two digests for a moment. Its new one is put beside the old one when the new file lies on
// the disk under another name; then the file takes its name; then the old digest goes. So a process that is killed at
// any moment leaves only files whose digests are listed, and which replacement was not finished can be told. The old
// digest of a file that was not there is empty.
class FolderDigests {
 public:
  explicit FolderDigests(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The list of a new folder, of files that are written already.
  void begin(const std::vector<std::string>& names) const;
  // `write` replaces the file of that name by way of AtomicFile and hands on what it is given to commit().
  void replace(const std::string& name, const std::function<void(const AtomicFile::BeforeRename&)>& write) const;

  // An Error if the file is not the one that was written. Nothing is known of a file that is not listed, as in the
  // folders of older versions. The folder may be written to meanwhile.
  void check(const std::string& name) const;

  struct Finding {
    std::string name;
    std::string fault;        // empty: it is what was written
    bool listed = true;       // otherwise nothing is known about it
    bool unfinished = false;  // the process that replaced it did not come to an end; the file is whole all the same
  };
  // Every file that is listed or there, by name.
  std::vector<Finding> findings() const;
  // Of the listed files.
  std::vector<std::string> names() const;

 private:
  using List = std::map<std::string, std::vector<std::string>>;  // of each file the newest digest first
  List read() const;
  void write(const List& list) const;
  // What is wrong with a listed file; empty if nothing is.
  std::string fault_of(const std::string& name, const std::vector<std::string>& digests) const;

  std::filesystem::path folder_;
};

}  // namespace heed
