#include "heed/base/thread_pool.h"

#include <system_error>

#include "heed/base/error.h"
#include "heed/base/one_thread.h"
#include "heed/base/threads.h"

namespace heed {

ThreadPool::ThreadPool(int workers) {
  require(workers >= 1, "[workers] there must be at least one worker, not {}", workers);
  errors_.resize(static_cast<std::size_t>(workers));
  try {
    for (int worker = 1; worker < workers; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
  } catch (const std::system_error& error) {
    stop();
    fail("[workers] cannot start {} threads: {}", workers, error.what());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(const std::function<void(int)>& job) {
  if (threads_.empty()) return job(0);
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    busy_ = static_cast<int>(threads_.size());
    ++round_;
  }
  start_.notify_all();
  std::exception_ptr first;
  try {
    const OneThread guard;
    job(0);
  } catch (...) {
    first = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  errors_[0] = first;
  for (const std::exception_ptr& error : errors_)
    if (error) std::rethrow_exception(error);
}

bool ThreadPool::try_run(const std::function<void(int)>& job) {
  const std::unique_lock lock(callers_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  run(job);
  return true;
}

void ThreadPool::serve(int worker) {
  set_thread_count(1);
  for (std::uint64_t seen = 0;;) {
    const std::function<void(int)>* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
      job = job_;
    }
    std::exception_ptr error;
    try {
      (*job)(worker);
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      errors_[static_cast<std::size_t>(worker)] = error;
      --busy_;
    }
    done_.notify_one();
  }
}

}  // namespace heed
