#pragma once

#include "heed/base/threads.h"

namespace heed {

// Ops and kernels called from this thread use it alone while one of these lives.
class OneThread {
 public:
  OneThread() : before_(thread_count()) { set_thread_count(1); }
  ~OneThread() { set_thread_count(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace heed
