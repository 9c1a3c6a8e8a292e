#include "heed/store/folder_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr const char* kName = "training.lock";

std::string about_this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("process {} on {}, since {:%Y-%m-%d %H:%M:%S} UTC\n", ::getpid(),
                     host[0] != '\0' ? host.data() : "an unnamed machine", fmt::gmtime(std::time(nullptr)));
}

// What the holder wrote about itself.
std::string about_holder(int file) {
  std::array<char, 400> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  const char* const end = std::find(text.data(), text.data() + std::max<ssize_t>(size, 0), '\n');
  const bool plain =
      std::all_of(static_cast<const char*>(text.data()), end, [](char c) { return c >= ' ' && c <= '~'; });
  return plain && end != text.data() ? std::string(static_cast<const char*>(text.data()), end) : "another process";
}

enum class Locked { yes, held_by_another, cannot };
Locked lock(int file) {
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK || errno == EACCES ? Locked::held_by_another : Locked::cannot;
  }
  return Locked::yes;
}

// Whether what is open is still what has the name there: the holder of a lock removes its file in the end, and a folder
// gives way to another that takes its name.
bool has_name(int open, int folder, const char* name) {
  struct stat here {};
  struct stat named {};
  return ::fstat(open, &here) == 0 && ::fstatat(folder, name, &named, 0) == 0 && here.st_dev == named.st_dev &&
         here.st_ino == named.st_ino;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const auto give_up = [&](const char* what) {
    const int reason = errno;
    close();
    fail("{}: {}: {}", folder.string(), what, std::generic_category().message(reason));
  };
  do {
    close();
    folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) give_up("cannot open the folder");
    file_ = ::openat(folder_, kName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) give_up("cannot write a lock into it");
    const Locked locked = lock(file_);
    if (locked == Locked::held_by_another) {
      const std::string who = about_holder(file_);
      close();
      fail("{}: it is in use by another training: {}", folder.string(), who);
    }
    if (locked == Locked::cannot) weakness_ = std::generic_category().message(errno);
  } while (!has_name(file_, folder_, kName) || !has_name(folder_, AT_FDCWD, folder.c_str()));
  const std::string about = about_this_process();
  // What is written is for people; without it the lock holds as well.
  if (::ftruncate(file_, 0) == 0) static_cast<void>(::pwrite(file_, about.data(), about.size(), 0) > 0);
}

FolderLock::~FolderLock() {
  ::unlinkat(folder_, kName, 0);
  close();
}

void FolderLock::close() {
  for (int* descriptor : {&file_, &folder_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
}

std::string FolderLock::holder(const std::filesystem::path& folder) {
  const int file = ::open((folder / kName).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return "";
  std::string who = lock(file) == Locked::held_by_another ? about_holder(file) : "";
  ::close(file);
  return who;
}

}  // namespace heed
