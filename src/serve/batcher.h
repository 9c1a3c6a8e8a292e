#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// What one client waits for.
class BatchItem {
 public:
  virtual ~BatchItem() = default;
  // Items of one kind can be worked on together.
  virtual const std::string& kind() const = 0;
  virtual Index sentences() const = 0;
  // Whether it takes so long that others should not wait for it.
  virtual bool is_long() const = 0;
  // Whether anybody still waits for it; what nobody waits for is left out of the next batch.
  virtual bool wanted() const = 0;
};

struct BatcherOptions {
  Index queue = 256;     // items that may wait
  Index sentences = 64;  // of a batch; one item may have more of its own
};

// Puts what many clients ask for together into batches and works on one batch at a time, on a thread of its own. The
// item that has waited longest decides the kind of the next batch, and what else of that kind is waiting joins it, in
// order; nobody waits for a batch to fill up. Long items go beside them, one by one, on a second thread: a short one
// never waits for a long one, and the machine is shared between the two. All members may be called from any thread.
class Batcher {
 public:
  using Items = std::vector<std::shared_ptr<BatchItem>>;
  // `work` is called with one batch after the other by each of the two threads, and answers its items itself. It must
  // not throw.
  Batcher(BatcherOptions options, std::function<void(const Items&)> work);
  // Finishes.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  enum class Taken { yes, full, finishing };
  Taken submit(std::shared_ptr<BatchItem> item);
  // Items that wait, without those that are being worked on.
  Index waiting() const;
  // Takes nothing more and returns when all that was taken has been worked on. Not to be called from `work`.
  void finish();

 private:
  using Queue = std::deque<std::shared_ptr<BatchItem>>;
  void serve(Queue& queue);
  Items next_batch(Queue& queue) const;  // with mutex_ held

  const BatcherOptions options_;
  const std::function<void(const Items&)> work_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable filled_;
  Queue short_, long_;
  bool finishing_ = false;
  std::once_flag joined_;
  std::thread short_thread_, long_thread_;
};

}  // namespace heed
