#include "heed/base/signal_stack.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "heed/kernels/gemm.h"
#include "heed/train/stop_signals.h"

namespace heed {
namespace {

std::atomic<int> handled{0}, elsewhere{0};

// Counts, and whether it ran on the thread's stack for signals.
extern "C" void count_signal(int) {
  stack_t present{};
  if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_ONSTACK) == 0) ++elsewhere;
  ++handled;
}

// A thread multiplies until it has been interrupted many times. oneDNN's stack is then on the heap, which a handler on
// that stack would spoil.
TEST(SignalStack, SignalsDuringProductsRunOnIt) {
  handled = elsewhere = 0;
  struct sigaction counting {
  }, before{};
  counting.sa_handler = count_signal;
  counting.sa_flags = SA_ONSTACK | SA_RESTART;
  ASSERT_EQ(::sigaction(SIGUSR1, &counting, &before), 0);
  constexpr int kSignals = 50;
  std::atomic<bool> multiplying{false};
  std::thread worker([&] {
    constexpr Index kSize = 96;
    const std::vector<Real> a(kSize * kSize, 1), b(kSize * kSize, 2);
    std::vector<Real> c(kSize * kSize);
    while (handled < kSignals) {
      kernels::gemm(kSize, kSize, kSize, 1, {a.data(), kSize, false}, {b.data(), kSize, false}, 0, c.data(), kSize);
      multiplying = true;
    }
    EXPECT_EQ(c[5], 2 * kSize);
  });
  while (!multiplying) std::this_thread::yield();
  for (int sent = 0; sent < kSignals; ++sent) {
    ::pthread_kill(worker.native_handle(), SIGUSR1);
    while (handled <= sent) std::this_thread::yield();
  }
  worker.join();
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
  EXPECT_EQ(handled, kSignals);
  EXPECT_EQ(elsewhere, 0);
}

TEST(SignalStack, AStackThatIsThereStays) {
  std::thread([] {
    std::vector<char> memory(1 << 16);
    stack_t own{}, found{}, none{};
    own.ss_sp = memory.data(), own.ss_size = memory.size();
    none.ss_flags = SS_DISABLE;
    ASSERT_EQ(::sigaltstack(&own, nullptr), 0);
    use_signal_stack();
    ASSERT_EQ(::sigaltstack(nullptr, &found), 0);
    EXPECT_EQ(found.ss_sp, memory.data());
    ASSERT_EQ(::sigaltstack(&none, nullptr), 0);
  }).join();
}

TEST(StopSignals, AreHandledOnAStackOfTheirOwn) {
  const StopSignals listening;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction installed {};
    ASSERT_EQ(::sigaction(signal, nullptr, &installed), 0);
    EXPECT_NE(installed.sa_flags & SA_ONSTACK, 0);
  }
  EXPECT_EQ(listening.caught(), 0);
}

}  // namespace
}  // namespace heed
