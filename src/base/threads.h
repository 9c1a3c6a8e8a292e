#pragma once

#include <algorithm>
#include <exception>
#include <mutex>

#include "heed/base/real.h"

namespace heed {

// How many threads the ops called from this thread may use; each worker thread has its own setting.
int thread_count();
// At most what OMP_THREAD_LIMIT allows.
void set_thread_count(int count);
// The same, unless it is 0: what a program's --threads means, of which 0 is "all".
inline void limit_threads(Index count) {
  if (count > 0) set_thread_count(static_cast<int>(count));
}

namespace detail {
// Calls `body(context, begin, end)` over chunks that cover [0, size); over all at once if another caller has the team.
void run_chunks(Index size, Index chunks, void (*body)(void*, Index, Index), void* context);
// 1 inside a parallel section, thread_count() outside.
int available_threads();
}  // namespace detail

// Runs body(begin, end) over ranges that cover [0, size) exactly, in parallel when there is more than `grain`
// work for a thread. The body must not throw and must give the same result however the range is cut.
template <class Body>
void parallel_for(Index size, Index grain, Body&& body) {
  const Index most = (size + grain - 1) / std::max<Index>(grain, 1);
  const Index chunks = most <= 1 ? 1 : std::min<Index>(most, detail::available_threads());
  if (chunks <= 1) {
    if (size > 0) body(Index{0}, size);
    return;
  }
  detail::run_chunks(
      size, chunks,
      [](void* context, Index begin, Index end) {
        (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// Runs body(i) for each of `size` items, in parallel when there are more than `grain` for a thread. The body may throw:
// a thread ends with what it threw, and one of these errors is thrown here when all threads have ended.
template <class Body>
void parallel_for_each(Index size, Index grain, Body&& body) {
  std::exception_ptr failure;
  std::mutex mutex;
  parallel_for(size, grain, [&](Index begin, Index end) {
    try {
      for (Index i = begin; i < end; ++i) body(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace heed
