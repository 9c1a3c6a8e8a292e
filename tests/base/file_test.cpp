#include "heed/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <thread>

#include "heed/base/error.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// What `action` returns in a process of its own, so that limits and mounts do not touch this one.
int in_child(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = action();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class FileTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(FileTest, AtomicFileAppearsOnlyAtCommit) {
  const fs::path path = folder_.path() / "a.txt";
  put(path, "old");
  AtomicFile file(path);
  file.write("new ");
  file.write(std::string(200'000, 'x'));
  file.write(" end");
  EXPECT_EQ(read_file(path), "old");
  ASSERT_EQ(files_in(folder_.path()), 2u);
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    if (entry.path() != path) {
      EXPECT_EQ(entry.path().filename().string().rfind("a.txt.", 0), 0u);
      EXPECT_EQ(entry.path().extension(), ".partial");
    }
  file.commit();
  EXPECT_EQ(read_file(path), "new " + std::string(200'000, 'x') + " end");
  EXPECT_EQ(files_in(folder_.path()), 1u);
  EXPECT_EQ(test::message_of([&] { file.write("more"); }),
            path.string() + ": nothing can be written after commit or a failure");
  EXPECT_EQ(test::message_of([&] { file.commit(); }),
            path.string() + ": nothing can be written after commit or a failure");
}

TEST_F(FileTest, AtomicFileWithoutCommitLeavesNothing) {
  const fs::path path = folder_.path() / "a.txt";
  {
    AtomicFile file(path);
    file.write(std::string(100'000, 'x'));
    EXPECT_EQ(files_in(folder_.path()), 1u);
  }
  EXPECT_EQ(files_in(folder_.path()), 0u);
}

TEST_F(FileTest, AtomicFileOfNoBytesIsAnEmptyFile) {
  const fs::path path = folder_.path() / "empty";
  AtomicFile(path).commit();
  EXPECT_EQ(fs::file_size(path), 0u);
}

TEST_F(FileTest, AKilledWriterLeavesTheOldFile) {
  const fs::path path = folder_.path() / "a.txt";
  put(path, "old");
  const int code = in_child([&]() -> int {
    AtomicFile file(path);
    file.write(std::string(1'000'000, 'x'));
    ::_exit(7);  // no destructor runs, as if killed
  });
  EXPECT_EQ(code, 7);
  EXPECT_EQ(read_file(path), "old");
  AtomicFile again(path);  // what the dead writer left is in nobody's way
  again.write("new");
  again.commit();
  EXPECT_EQ(read_file(path), "new");
}

TEST_F(FileTest, AFileBeyondTheSizeLimitIsAnErrorAndLeavesTheOldOne) {
  const fs::path path = folder_.path() / "a.txt";
  put(path, "old");
  const int code = in_child([&]() -> int {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    AtomicFile file(path);
    const std::string error = test::message_of([&] { file.write(std::string(300'000, 'x')); });
    // The room is free again at once, before the object goes.
    return error == path.string() + ": cannot write it: File too large" && files_in(folder_.path()) == 1 ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(files_in(folder_.path()), 1u);
}

TEST_F(FileTest, AFullDiskIsAnErrorWithTheSystemsReason) {
  constexpr int kNotAllowed = 50;
  const fs::path disk = folder_.path() / "disk";
  fs::create_directory(disk);
  const int code = in_child([&]() -> int {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNotAllowed;
    ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) return kNotAllowed;
    put(disk / "a.txt", "old");
    const std::string in_write = test::message_of([&] {
      AtomicFile file(disk / "a.txt");
      file.write(std::string(200'000, 'x'));
    });
    const std::string in_commit = test::message_of([&] {
      AtomicFile file(disk / "a.txt");
      for (int i = 0; i < 63; ++i) file.write(std::string(1024, 'x'));
      file.commit();
    });
    const std::string expected = (disk / "a.txt").string() + ": cannot write it: No space left on device";
    if (in_write != expected) return 1;
    if (in_commit != expected) return 2;
    return read_file(disk / "a.txt") == "old" && files_in(disk) == 1 ? 0 : 3;
  });
  if (code == kNotAllowed) GTEST_SKIP() << "this account may not mount a small disk";
  EXPECT_EQ(code, 0);
}

TEST_F(FileTest, PermissionsFollowTheUmaskOrTheOldFile) {
  const auto mode_of = [](const fs::path& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 0777;
  };
  const mode_t before = ::umask(027);
  AtomicFile(folder_.path() / "new").commit();
  ::umask(before);
  EXPECT_EQ(mode_of(folder_.path() / "new"), 0640u);

  put(folder_.path() / "old", "x");
  ::chmod((folder_.path() / "old").c_str(), 0604);
  AtomicFile(folder_.path() / "old").commit();
  EXPECT_EQ(mode_of(folder_.path() / "old"), 0604u);
}

TEST_F(FileTest, ALinkIsFollowed) {
  fs::create_directory(folder_.path() / "elsewhere");
  fs::create_symlink("elsewhere/real", folder_.path() / "link");
  for (const std::string text : {"first", "second"}) {  // the target is missing, then there
    AtomicFile file(folder_.path() / "link");
    file.write(text);
    file.commit();
    EXPECT_TRUE(fs::is_symlink(folder_.path() / "link"));
    EXPECT_EQ(read_file(folder_.path() / "elsewhere" / "real"), text);
  }
}

TEST_F(FileTest, PlacesThatCannotBeWrittenAreErrors) {
  const std::string missing = (folder_.path() / "no" / "a.txt").string();
  EXPECT_EQ(test::message_of([&] { AtomicFile file(missing); }),
            missing + ": cannot write beside it: No such file or directory");
  EXPECT_EQ(test::message_of([&] { AtomicFile file(folder_.path()); }),
            folder_.path().string() + ": it is a directory, not a file");
  EXPECT_EQ(test::message_of([] { AtomicFile file("/dev/null"); }),
            "/dev/null: it is not a regular file and cannot be replaced");
  EXPECT_EQ(test::message_of([] { AtomicFile file(""); }), ": it names no file to write");
  if (::geteuid() != 0) {
    fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(test::message_of([&] { AtomicFile file(folder_.path() / "a.txt"); }),
              (folder_.path() / "a.txt").string() + ": cannot write beside it: Permission denied");
    fs::permissions(folder_.path(), fs::perms::owner_all);
  }
}

TEST_F(FileTest, AnotherUserMayNotReadOrWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may become another user";
  const fs::path path = folder_.path() / "secret";
  put(path, "x");
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  ::chmod(path.c_str(), 0600);
  const int code = in_child([&]() -> int {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
    const std::string name = path.string();
    if (test::message_of([&] { MappedFile file(path); }) != name + ": cannot open it: Permission denied") return 2;
    if (test::message_of([&] { read_file(path); }) != name + ": cannot open it: Permission denied") return 3;
    if (test::message_of([&] { AtomicFile file(path); }) != name + ": cannot write beside it: Permission denied")
      return 4;
    return 0;
  });
  EXPECT_EQ(code, 0);
}

TEST_F(FileTest, MappedFileShowsTheBytesAndKeepsWritesToItself) {
  const fs::path path = folder_.path() / "a.bin";
  put(path, "abc");
  MappedFile file(path);
  ASSERT_EQ(file.bytes().size(), 3u);
  EXPECT_EQ(static_cast<char>(file.bytes()[1]), 'b');
  file.bytes()[1] = std::byte{'X'};
  EXPECT_EQ(read_file(path), "abc");
  const MappedFile other(path);
  EXPECT_EQ(static_cast<char>(other.bytes()[1]), 'b');
}

TEST_F(FileTest, MappedFileSurvivesBeingReplaced) {
  const fs::path path = folder_.path() / "a.bin";
  put(path, std::string(10'000, 'a'));
  const MappedFile file(path);
  AtomicFile shorter(path);
  shorter.write("b");
  shorter.commit();
  EXPECT_EQ(static_cast<char>(file.bytes()[9'999]), 'a');
  EXPECT_EQ(read_file(path), "b");
}

TEST_F(FileTest, MappedFileOddCases) {
  put(folder_.path() / "empty", "");
  EXPECT_TRUE(MappedFile(folder_.path() / "empty").bytes().empty());
  const std::string missing = (folder_.path() / "missing").string();
  EXPECT_EQ(test::message_of([&] { MappedFile file(missing); }),
            missing + ": cannot open it: No such file or directory");
  EXPECT_EQ(test::message_of([&] { MappedFile file(folder_.path()); }),
            folder_.path().string() + ": it is a directory, not a file");
  EXPECT_EQ(test::message_of([] { MappedFile file("/dev/zero"); }), "/dev/zero: it is not a regular file");
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(test::message_of([&] { MappedFile file(pipe); }), pipe + ": it is not a regular file");
}

TEST_F(FileTest, ReadFileTakesTextOfAnySizeUpToTheLimit) {
  const fs::path path = folder_.path() / "a.txt";
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 70'000u}) {
    const std::string text(size, 'x');
    put(path, text);
    EXPECT_EQ(read_file(path), text);
    EXPECT_EQ(read_file(path, size), text);
    if (size == 0) continue;
    EXPECT_EQ(test::message_of([&] { read_file(path, size - 1); }),
              fmt::format("{}: its {} bytes are more than the {} allowed", path.string(), size, size - 1));
  }
  EXPECT_EQ(test::message_of([&] { read_file(folder_.path()); }),
            folder_.path().string() + ": it is a directory, not a file");
  EXPECT_EQ(test::message_of([&] { read_file(folder_.path() / "no"); }),
            (folder_.path() / "no").string() + ": cannot open it: No such file or directory");
}

TEST_F(FileTest, ReadFileTakesPipesAndStopsAtTheLimit) {
  EXPECT_EQ(test::message_of([] { read_file("/dev/zero", 10'000); }),
            "/dev/zero: it has more than the 10000 bytes allowed");
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { put(pipe, std::string(100'000, 'y')); });
  EXPECT_EQ(read_file(pipe), std::string(100'000, 'y'));
  writer.join();
}

}  // namespace
}  // namespace heed
