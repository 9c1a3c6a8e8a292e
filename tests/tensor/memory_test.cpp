#include "heed/tensor/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "heed/tensor/tensor.h"
#include "support/messages.h"

namespace heed::test {
namespace {

constexpr std::size_t kSmall = 1000, kLarge = 3'000'000;  // one is kept per thread, the other in the heap of all

// The limit is one for the whole process: put back whatever a test does.
struct LimitGuard {
  ~LimitGuard() { memory::set_limit(0); }
};

TEST(Memory, StatisticsFollowABlock) {
  memory::trim();
  const memory::Statistics before = memory::statistics();
  {
    const memory::Buffer block(kLarge);
    const memory::Statistics during = memory::statistics();
    EXPECT_GE(during.bytes_in_use, before.bytes_in_use + kLarge);
    EXPECT_LE(during.bytes_in_use, before.bytes_in_use + kLarge + kLarge / 8 + 128);  // at most 12.5 % is unused
    EXPECT_EQ(during.system_allocations, before.system_allocations + 1);
    EXPECT_GE(during.system_bytes, before.system_bytes + kLarge);
    EXPECT_GE(during.peak_bytes, during.bytes_in_use);
  }
  const memory::Statistics after = memory::statistics();
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_GE(after.system_bytes, before.system_bytes + kLarge);  // kept for the next one
}

TEST(Memory, PeakIsTheMostSinceTheReset) {
  memory::reset_peak();
  const std::size_t start = memory::statistics().peak_bytes;
  EXPECT_EQ(start, memory::statistics().bytes_in_use);
  { const memory::Buffer block(kLarge); }
  EXPECT_GE(memory::statistics().peak_bytes, start + kLarge);
  memory::reset_peak();
  EXPECT_EQ(memory::statistics().peak_bytes, memory::statistics().bytes_in_use);
}

TEST(Memory, BlocksAreAlignedWritableAndApart) {
  std::vector<memory::Buffer> blocks;
  const std::vector<std::size_t> sizes = {0, 1, 63, 64, 65, 511, 512, 513, 4096, 65'536, 65'537, 1'000'000};
  for (const std::size_t size : sizes) {
    blocks.emplace_back(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().data()) % 64, 0u) << size;
    std::memset(blocks.back().data(), static_cast<int>(blocks.size()), size);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t at = 0; at < sizes[i]; ++at)
      ASSERT_EQ(static_cast<unsigned char*>(blocks[i].data())[at], i + 1) << sizes[i] << " at " << at;
}

TEST(Memory, FreedBlocksAreHandedOutAgain) {
  for (const std::size_t size : {kSmall, kLarge}) {
    void* first = memory::allocate(size);
    memory::release(first);
    const std::uint64_t asked = memory::statistics().system_allocations;
    for (int i = 0; i < 100; ++i) {
      void* again = memory::allocate(size);
      EXPECT_EQ(again, first);
      memory::release(again);
    }
    EXPECT_EQ(memory::statistics().system_allocations, asked);
  }
}

// What one batch freed is cut anew for the next, whatever its length.
TEST(Memory, LargeBlocksOfAllSizesShareTheirMemory) {
  memory::trim();
  { const memory::Buffer whole(24'000'000); }
  const std::uint64_t asked = memory::statistics().system_allocations;
  for (int round = 0; round < 3; ++round) {
    {
      std::vector<memory::Buffer> parts;
      for (const std::size_t size : {7'000'000, 70'000, 9'000'000, 500'000, 7'000'000}) parts.emplace_back(size);
      std::swap(parts[0], parts[3]);  // freed out of order
    }
    const memory::Buffer whole(24'000'000);
  }
  EXPECT_EQ(memory::statistics().system_allocations, asked);
}

TEST(Memory, BlocksStayApartThroughManyChanges) {
  memory::trim();
  const memory::Statistics before = memory::statistics();
  struct Held {
    memory::Buffer block;
    std::size_t size;
    unsigned char mark;
  };
  std::vector<Held> held;
  std::mt19937 random(7);
  for (int change = 0; change < 4000; ++change) {
    if (held.size() < 40 && random() % 5 < 3) {
      const std::size_t size = std::size_t{1} << (10 + random() % 12), bytes = size + random() % size;
      held.push_back({memory::Buffer(bytes), bytes, static_cast<unsigned char>(random())});
      std::memset(held.back().block.data(), held.back().mark, bytes);
    } else if (!held.empty()) {
      const std::size_t chosen = random() % held.size();
      const auto* const bytes = static_cast<const unsigned char*>(held[chosen].block.data());
      ASSERT_TRUE(
          std::all_of(bytes, bytes + held[chosen].size, [&](unsigned char b) { return b == held[chosen].mark; }))
          << "change " << change;
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
  held.clear();
  EXPECT_EQ(memory::statistics().bytes_in_use, before.bytes_in_use);
  memory::trim();
  EXPECT_EQ(memory::statistics().system_bytes, before.system_bytes);  // every neighbour was joined again
}

TEST(Memory, TrimGivesBack) {
  { const memory::Buffer large(kLarge), small(kSmall); }
  EXPECT_GT(memory::statistics().system_bytes, memory::statistics().bytes_in_use);
  memory::trim();
  const memory::Statistics after = memory::statistics();
  EXPECT_LT(after.system_bytes, kLarge + after.bytes_in_use * 2);
  const memory::Buffer again(kLarge);
  EXPECT_EQ(memory::statistics().system_allocations, after.system_allocations + 1);
}

TEST(Memory, AskingBeyondTheLimitIsAnErrorWithTheSize) {
  const LimitGuard guard;
  memory::trim();
  const std::size_t used = memory::statistics().bytes_in_use;
  memory::set_limit(used + 1'000'000);
  const std::string text = message_of([] { memory::allocate(kLarge); });
  EXPECT_EQ(text, fmt::format("[memory] cannot allocate {} bytes ({} bytes in use, limit {})", kLarge, used,
                              used + 1'000'000));
  EXPECT_EQ(memory::statistics().bytes_in_use, used);
  memory::release(memory::allocate(kSmall));  // what fits is still given
}

TEST(Memory, TheLimitCountsWhatIsSetAside) {
  const LimitGuard guard;
  memory::set_limit(memory::statistics().bytes_in_use + 1030);  // the class of 1030 bytes is larger
  EXPECT_THROW(memory::allocate(1030), Error);
}

TEST(Memory, TheLimitHoldsForKeptBlocksToo) {
  const LimitGuard guard;
  { const memory::Buffer kept(kLarge); }
  memory::set_limit(memory::statistics().bytes_in_use + 1'000'000);
  EXPECT_EQ(message_of([] { memory::allocate(kLarge); }).rfind("[memory] cannot allocate 3000000 bytes", 0), 0u);
}

TEST(Memory, AbsurdSizesAreErrorsWithTheSize) {
  EXPECT_EQ(message_of([] { memory::allocate(std::size_t{1} << 60); }),
            "[memory] cannot allocate 1152921504606846976 bytes");
  EXPECT_EQ(message_of([] { memory::allocate(~std::size_t{0}); }),
            "[memory] cannot allocate 18446744073709551615 bytes");
  const std::string text = message_of([] { Tensor(Shape{Index{1} << 55}); });
  EXPECT_EQ(text.rfind("[memory] cannot allocate", 0), 0u) << text;
  EXPECT_NE(text.find(std::to_string((std::size_t{1} << 55) * sizeof(Real) + 64)), std::string::npos) << text;
}

// One thread makes, another frees: blocks must find their way back.
void pass_along(std::size_t bytes, int count) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<memory::Buffer> queue;
  std::thread consumer([&] {
    for (int i = 0; i < count; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !queue.empty(); });
      const memory::Buffer block = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      changed.notify_all();
    }
  });
  for (int i = 0; i < count; ++i) {
    memory::Buffer block(bytes);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return queue.size() < 8; });
    queue.push_back(std::move(block));
    lock.unlock();
    changed.notify_all();
  }
  consumer.join();
}

TEST(Memory, FreeingOnAnotherThreadDoesNotGrowWithoutBound) {
  for (const std::size_t size : {kSmall, kLarge}) {
    const std::uint64_t before = memory::statistics().system_allocations;
    pass_along(size, 5000);
    // What a thread may keep, what is in the queue, and what is in flight.
    EXPECT_LE(memory::statistics().system_allocations - before, 128u + 8 + 8) << size;
  }
}

TEST(Memory, AThreadThatEndsLeavesItsBlocksToTheOthers) {
  memory::trim();
  std::thread([] { const memory::Buffer block(kSmall); }).join();
  const std::uint64_t before = memory::statistics().system_allocations;
  const memory::Buffer block(kSmall);
  EXPECT_EQ(memory::statistics().system_allocations, before);
}

TEST(Memory, ForeignMemoryIsReleasedOnce) {
  int released = 0;
  Real numbers[] = {1, 2, 3};
  {
    Tensor x(memory::Buffer::foreign(numbers, &released, [](void* owner) { ++*static_cast<int*>(owner); }), numbers,
             Shape{3});
    const Tensor copy = x, view = x.slice(0, 1, 3);
    EXPECT_EQ(view.at({0}), 2);
    x = Tensor();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Memory, ForeignMemoryIsNeverOursToOverwrite) {
  Real numbers[] = {1, 2, 3};
  const Tensor x(memory::Buffer::foreign(numbers, nullptr, [](void*) {}), numbers, Shape{3});
  EXPECT_FALSE(x.unique());
}

}  // namespace
}  // namespace heed::test
