#include "heed/base/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace heed {
namespace {

class ParallelLoops : public ::testing::Test {
 protected:
  ~ParallelLoops() override { set_thread_count(before_); }
  const int before_ = thread_count();
};

// How often each place of [0, size) was visited.
std::vector<int> visits(Index size, Index grain) {
  std::vector<int> count(static_cast<std::size_t>(size));
  parallel_for(size, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) ++count[static_cast<std::size_t>(i)];
  });
  return count;
}

TEST_F(ParallelLoops, EveryPlaceIsVisitedOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    for (const Index size : {0, 1, 2, 7, 1000})
      for (int round = 0; round < 50; ++round)
        ASSERT_EQ(visits(size, 1), std::vector<int>(static_cast<std::size_t>(size), 1)) << threads << " " << size;
  }
}

TEST_F(ParallelLoops, CallersAtOnceDoNotWaitForEachOther) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      set_thread_count(3);
      for (int round = 0; round < 500; ++round)
        if (visits(100, 10) != std::vector<int>(100, 1)) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ParallelLoops, ALoopInsideALoopUsesOneThread) {
  set_thread_count(2);
  const int count = thread_count();
  std::atomic<int> ranges{0};
  parallel_for(2, 1, [&](Index, Index) { parallel_for(100, 1, [&](Index, Index) { ++ranges; }); });
  EXPECT_EQ(ranges, count);
  EXPECT_EQ(thread_count(), count);
}

TEST_F(ParallelLoops, WhatABodyThrowsIsThrownWhenAllHaveEnded) {
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    std::atomic<int> visited{0};
    try {
      parallel_for_each(30, 1, [&](Index i) {
        ++visited;
        if (i == 7) throw std::runtime_error("item 7");
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("item 7"));
    }
    EXPECT_GE(visited, 1) << threads;
    EXPECT_LT(visited, 30) << threads;
  }
  std::vector<int> count(30);
  parallel_for_each(30, 1, [&](Index i) { ++count[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(count, std::vector<int>(30, 1));
}

// A child of fork() has none of the threads.
TEST(LoopsOfAChild, LoopsEndWithoutHelpers) {
  const int before = thread_count();
  set_thread_count(3);
  ASSERT_EQ(visits(100, 1), std::vector<int>(100, 1));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    ::_exit(visits(100, 1) == std::vector<int>(100, 1) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  set_thread_count(before);
}

}  // namespace
}  // namespace heed
