#include "heed/data/spooled_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

class OwnDescriptor {
 public:
  explicit OwnDescriptor(int number) : number_(number) {}
  ~OwnDescriptor() {
    if (number_ > STDIN_FILENO) ::close(number_);
  }
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};
using Spool = std::shared_ptr<const OwnDescriptor>;  // a temporary file without a name

struct Spools {
  std::mutex mutex;
  std::map<std::string, Spool> by_name;  // of what they hold
};
Spools& spools() {
  static Spools all;
  return all;
}

// Nothing of what is not spooled.
Spool spool_of(const std::string& file) {
  Spools& all = spools();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_name.find(file);
  return found == all.by_name.end() ? nullptr : found->second;
}

bool comes_once(const std::string& file) {
  struct stat status {};
  return file == "-" || (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

std::string shown(const std::string& file) { return file == "-" ? "standard input" : file; }

// Copies everything into a new temporary file.
Spool spool(const std::string& file) {
  const auto check = [&file](bool ok, const char* what) {
    if (!ok) fail("{}: {}: {}", shown(file), what, std::generic_category().message(errno));
  };
  const OwnDescriptor from(file == "-" ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  check(from.number() >= 0, "cannot open it");
  std::string name = (std::filesystem::temp_directory_path() / "heed-spool-XXXXXX").string();
  auto to = std::make_shared<const OwnDescriptor>(::mkostemp(name.data(), O_CLOEXEC));
  check(to->number() >= 0, "cannot make a temporary file for it");
  ::unlink(name.c_str());
  std::vector<char> bytes(1 << 16);
  while (true) {
    const ssize_t got = ::read(from.number(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    check(got >= 0, "cannot read it");
    if (got == 0) return to;
    for (ssize_t done = 0; done < got;) {
      const ssize_t written = ::write(to->number(), bytes.data() + done, static_cast<std::size_t>(got - done));
      if (written < 0 && errno == EINTR) continue;
      check(written > 0, "cannot write the temporary file for it");
      done += written;
    }
  }
}

}  // namespace

SpooledFiles::SpooledFiles(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!is_read_once(file)) continue;
    require(std::find(names_.begin(), names_.end(), file) == names_.end(),
            "{}: it can be only one of the files: it is read once", shown(file));
    names_.push_back(file);
  }
  std::vector<std::future<Spool>> copies;
  copies.reserve(names_.size());
  for (const std::string& name : names_) copies.push_back(std::async(std::launch::async, spool, name));
  std::vector<Spool> copied;
  copied.reserve(copies.size());
  for (auto& copy : copies) copied.push_back(copy.get());
  const std::lock_guard lock(spools().mutex);
  for (std::size_t i = 0; i < copied.size(); ++i) spools().by_name[names_[i]] = std::move(copied[i]);
}

SpooledFiles::~SpooledFiles() {
  const std::lock_guard lock(spools().mutex);
  for (const std::string& name : names_) spools().by_name.erase(name);
}

bool is_read_once(const std::string& file) { return spool_of(file) == nullptr && comes_once(file); }

std::string path_of(const std::string& file) {
  const Spool spooled = spool_of(file);
  return spooled ? fmt::format("/proc/self/fd/{}", spooled->number()) : file;
}

}  // namespace heed
