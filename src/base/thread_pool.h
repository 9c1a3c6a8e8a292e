#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace heed {

// A fixed number of workers that live as long as the pool, so that their memory caches do too. Worker 0 is the thread
// that calls run; a pool of one starts no thread.
class ThreadPool {
 public:
  explicit ThreadPool(int workers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(errors_.size()); }
  // Calls job(worker) once for every worker and returns when all are done. If some throw, the error of the lowest
  // worker is thrown here, after the others have finished. Not to be called from a job or by two threads at once.
  // While it runs, each worker's ops use one thread if there is more than one worker.
  void run(const std::function<void(int)>& job);
  // The same; or false, and nothing is done, while it runs for another thread. May be called by many threads at once.
  bool try_run(const std::function<void(int)>& job);

 private:
  void serve(int worker);
  void stop();

  std::mutex callers_;  // held by the thread for which try_run runs
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int)>* job_ = nullptr;
  std::uint64_t round_ = 0;  // of run; the threads wait for it to rise
  int busy_ = 0;
  bool stopping_ = false;
  std::vector<std::exception_ptr> errors_;  // one for each worker
  std::vector<std::thread> threads_;
};

}  // namespace heed
