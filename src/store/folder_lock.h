#pragma once

#include <filesystem>
#include <string>

namespace heed {

// Keeps a folder for one training: while one of these lives, another of the same folder, in this process or in any
// other, is an Error that says who holds it. The folder may be renamed meanwhile.
//
// It is an flock of the file training.lock, so the system gives it up when the process ends, however it ends. What is
// left of such a file afterwards holds nobody up. On NFS and SMB the lock is kept by the file server and holds between
// machines; if a machine is lost its lock goes when the server notices (NFSv4: after its lease, 90 s by default). File
// systems that are mounted to lock on one machine only (NFS with nolock or local_lock, many in user space) hold off the
// trainings of that machine. One that has no locks at all is not refused: weakness() says so.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Why the file system cannot keep others out; empty if it can.
  const std::string& weakness() const { return weakness_; }
  // "process 123 on somewhere, since ..."; empty if nobody holds the folder.
  static std::string holder(const std::filesystem::path& folder);

 private:
  void close();

  int folder_ = -1, file_ = -1;
  std::string weakness_;
};

}  // namespace heed
