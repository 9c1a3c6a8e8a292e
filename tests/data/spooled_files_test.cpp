#include "heed/data/spooled_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "heed/base/file.h"
#include "heed/data/text_file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Lines = std::vector<std::string>;

// One program that writes into both pipes by turns, more than a pipe holds.
TEST(SpooledFilesThreads, PipesAreReadAsOftenAsFiles) {
  const TemporaryFolder folder;
  const std::string a = (folder.path() / "a").string(), b = (folder.path() / "b").string(),
                    plain = (folder.path() / "plain").string();
  ASSERT_EQ(::mkfifo(a.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(b.c_str(), 0600), 0);
  write_file(plain, "x\n");
  EXPECT_TRUE(is_read_once(a) && is_read_once("-") && !is_read_once(plain) && !is_read_once(folder.path().string()));
  constexpr int kLines = 20'000;
  std::thread writer([&] {
    std::ofstream first(b), second(a);  // in another order than they are read
    for (int i = 0; i < kLines; ++i) {
      first << "b" << i << "\n" << std::flush;
      second << "a" << i << "\n" << std::flush;
    }
  });
  {
    const SpooledFiles spooled({a, plain, b});
    writer.join();
    EXPECT_FALSE(is_read_once(a) || is_read_once(b));
    EXPECT_EQ(path_of(plain), plain);
    for (int again = 0; again < 2; ++again)
      for (const std::string& name : {a, b}) {
        LineReader reader(name);
        EXPECT_EQ(reader.name(), name);
        const Lines lines = reader.rest();
        ASSERT_EQ(lines.size(), static_cast<std::size_t>(kLines));
        EXPECT_EQ(lines.back(), (name == a ? "a" : "b") + std::to_string(kLines - 1));
      }
    EXPECT_EQ(read_file(path_of(a)).substr(0, 6), "a0\na1\n");
  }
  EXPECT_TRUE(is_read_once(a));
}

TEST(SpooledFilesThreads, WhatIsReadOnceIsOneOfTheFiles) {
  EXPECT_EQ(message_of([] {
              SpooledFiles({"-", "-"});
            }),
            "standard input: it can be only one of the files: it is read once");
}

}  // namespace
}  // namespace heed
