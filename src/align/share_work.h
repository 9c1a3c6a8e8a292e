#pragma once

#include <algorithm>
#include <atomic>
#include <span>

#include "heed/base/threads.h"

namespace heed {

// Calls work(worker's own thing, n) for every n below `size`. Whoever is free takes the next block, so that long
// sentences side by side do not keep one thread; what the work gives must not depend on who does it. One worker per
// thread that may run. The work must not throw.
template <class Own, class Work>
void share_work(std::size_t size, std::size_t block, std::span<Own> workers, const Work& work) {
  std::atomic<std::size_t> next{0};
  parallel_for(std::ssize(workers), 1, [&](Index begin, Index end) {
    for (Index worker = begin; worker < end; ++worker)
      for (std::size_t from = next.fetch_add(block); from < size; from = next.fetch_add(block))
        for (std::size_t n = from; n < std::min(from + block, size); ++n)
          work(workers[static_cast<std::size_t>(worker)], n);
  });
}

}  // namespace heed
