#include "heed/base/surviving_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "heed/base/file.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

TEST(SurvivingProcess, DoesTheWorkAndSaysHowItEnded) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  EXPECT_TRUE(run_in_surviving_process([&] { write_file(file, "there"); }, 60));
  EXPECT_EQ(read_file(file), "there");
  EXPECT_FALSE(run_in_surviving_process([] { throw std::runtime_error("no"); }, 60));
  EXPECT_FALSE(run_in_surviving_process([] { ::pause(); }, 0.05));
}

TEST(SurvivingProcess, OutlivesAKillOfItsMaker) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file", begun = folder.path() / "begun";
  const pid_t maker = ::fork();
  if (maker == 0) {
    ::setpgid(0, 0);
    run_in_surviving_process(
        [&] {
          write_file(begun, "");
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          write_file(file, "there");
        },
        60);
    ::_exit(0);
  }
  const auto appears = [](const std::filesystem::path& path) {
    for (int i = 0; i < 1000 && !std::filesystem::exists(path); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return std::filesystem::exists(path);
  };
  ASSERT_TRUE(appears(begun));
  ASSERT_FALSE(std::filesystem::exists(file));
  ASSERT_EQ(::kill(-maker, SIGKILL), 0);
  ASSERT_EQ(::waitpid(maker, nullptr, 0), maker);
  EXPECT_TRUE(appears(file));
}

}  // namespace
}  // namespace heed
