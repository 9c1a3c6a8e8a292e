#include "heed/base/threads.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/one_thread.h"

namespace heed {
namespace {

struct Work {
  Index size, chunks;
  void (*body)(void*, Index, Index);
  void* context;
};

// The threads that help whoever calls parallel_for. Chunks are taken, not dealt out: the caller does itself what no
// helper has come for, so on a busy machine, or in a child of fork() where no helper lives, it waits for nobody who has
// not begun. Whoever waits looks for a short while and then sleeps. The helpers live as long as the process.
class Team {
 public:
  // False, and nothing is done, while the team works for another thread.
  bool run(const Work& work) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    start_helpers(work.chunks - 1);
    work_ = work;
    unfinished_.store(static_cast<std::uint32_t>(work.chunks), std::memory_order_relaxed);
    const std::uint32_t round = state_.load(std::memory_order_relaxed) >> kBits;
    state_.store(((round + 1) << kBits) | static_cast<std::uint32_t>(work.chunks), std::memory_order_release);
    state_.notify_all();
    const OneThread alone;
    take_chunks();
    wait_while(unfinished_, [](std::uint32_t unfinished) { return unfinished > 0; });
    return true;
  }

  static constexpr int kBits = 16;
  static constexpr Index kMostChunks = (Index{1} << kBits) - 1;

 private:
  void start_helpers(Index count) {
    try {
      for (; helpers_ < count; ++helpers_) std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {
      // The machine gives no more threads: those that are there do the work.
    }
  }

  void help() {
    set_thread_count(1);
    while (true) {
      wait_while(state_, [](std::uint32_t state) { return (state & kMostChunks) == 0; });
      take_chunks();
    }
  }

  void take_chunks() {
    for (std::uint32_t state = state_.load(std::memory_order_acquire); (state & kMostChunks) != 0;) {
      if (!state_.compare_exchange_weak(state, state - 1, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      // The work is read only now: while a chunk of it is unfinished it does not change.
      const Index chunk = work_.chunks - (state & kMostChunks);
      work_.body(work_.context, work_.size * chunk / work_.chunks, work_.size * (chunk + 1) / work_.chunks);
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
      state = state_.load(std::memory_order_acquire);
    }
  }

  // Ops follow each other within microseconds, and waking a thread that sleeps takes tens of them.
  template <class Condition>
  static void wait_while(const std::atomic<std::uint32_t>& value, const Condition& condition) {
    constexpr std::chrono::microseconds kPatience{50};
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint32_t seen = value.load(std::memory_order_acquire); condition(seen);
         seen = value.load(std::memory_order_acquire))
      if (std::chrono::steady_clock::now() - begin > kPatience) value.wait(seen, std::memory_order_acquire);
  }

  std::mutex mutex_;  // held by the caller whose work it is
  Work work_{};
  std::atomic<std::uint32_t> state_{0};       // the round, and in the lower bits its chunks that nobody has taken
  std::atomic<std::uint32_t> unfinished_{0};  // chunks of the round
  Index helpers_ = 0;
};

}  // namespace

int thread_count() { return omp_get_max_threads(); }

void set_thread_count(int count) {
  require(count >= 1, "[threads] the thread count must be at least 1, not {}", count);
  // Never more than OpenMP will really give (OMP_THREAD_LIMIT): oneDNN leaves out the work of threads that do not come.
  omp_set_num_threads(std::min(count, omp_get_thread_limit()));
}

namespace detail {

int available_threads() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

void run_chunks(Index size, Index chunks, void (*body)(void*, Index, Index), void* context) {
  static Team& team = *new Team;  // never destroyed: its helpers may be at work while the process ends
  if (!team.run({size, std::min(chunks, Team::kMostChunks), body, context})) body(context, 0, size);
}

}  // namespace detail
}  // namespace heed
