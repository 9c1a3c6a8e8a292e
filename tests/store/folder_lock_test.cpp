#include "heed/store/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "heed/base/error.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

TEST(FolderLock, DiesWithItsProcess) {
  const TemporaryFolder folder;
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const FolderLock held(folder.path());
    static_cast<void>(::write(ready[1], "x", 1) == 1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const std::string message = test::message_of([&] { const FolderLock second(folder.path()); });
  EXPECT_NE(message.find(fmt::format("process {} on ", child)), std::string::npos) << message;
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(folder.path() / "training.lock"));  // it was killed
  EXPECT_EQ(FolderLock::holder(folder.path()), "");
  {
    const FolderLock next(folder.path());
    EXPECT_EQ(next.weakness(), "");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  for (const int end : ready) ::close(end);
}

// Holders come and go, and each removes the file of the lock as it goes.
TEST(FolderLock, NeverHasTwoHoldersThreads) {
  const TemporaryFolder folder;
  std::atomic<int> inside{0}, together{0}, taken{0};
  const auto work = [&] {
    for (int i = 0; i < 500; ++i) {
      try {
        const FolderLock lock(folder.path());
        if (inside.fetch_add(1) > 0) ++together;
        ++taken;
        std::this_thread::yield();
        --inside;
      } catch (const Error&) {
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, 0);
  EXPECT_GT(taken, 0);
}

TEST(FolderLock, FollowsAFolderThatIsRenamedAndIsNotTakenForItsSuccessor) {
  const TemporaryFolder folder;
  const fs::path before = folder.path() / "a", after = folder.path() / "b";
  fs::create_directory(before);
  std::optional<FolderLock> lock(std::in_place, before);
  fs::rename(before, after);
  EXPECT_NE(FolderLock::holder(after), "");
  fs::create_directory(before);
  { const FolderLock other(before); }
  lock.reset();
  EXPECT_TRUE(fs::is_empty(after));
}

TEST(FolderLock, AFolderThatIsNotThereIsAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(test::message_of([&] { const FolderLock lock(folder.path() / "none"); }),
            (folder.path() / "none").string() + ": cannot open the folder: No such file or directory");
}

}  // namespace
}  // namespace heed
