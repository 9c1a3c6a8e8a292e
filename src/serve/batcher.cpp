#include "heed/serve/batcher.h"

namespace heed {

Batcher::Batcher(BatcherOptions options, std::function<void(const Items&)> work)
    : options_(options),
      work_(std::move(work)),
      short_thread_([this] { serve(short_); }),
      long_thread_([this] { serve(long_); }) {}

Batcher::~Batcher() { finish(); }

Batcher::Taken Batcher::submit(std::shared_ptr<BatchItem> item) {
  const std::lock_guard lock(mutex_);
  if (finishing_) return Taken::finishing;
  if (static_cast<Index>(short_.size() + long_.size()) >= options_.queue) return Taken::full;
  Queue& queue = item->is_long() ? long_ : short_;
  queue.push_back(std::move(item));
  filled_.notify_all();
  return Taken::yes;
}

Index Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<Index>(short_.size() + long_.size());
}

void Batcher::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    filled_.notify_all();
  }
  std::call_once(joined_, [this] {
    short_thread_.join();
    long_thread_.join();
  });
}

Batcher::Items Batcher::next_batch(Queue& queue) const {
  Items batch;
  Index sentences = 0;
  for (auto place = queue.begin(); place != queue.end();) {
    if (!(*place)->wanted()) {
      place = queue.erase(place);
      continue;
    }
    const bool fits = batch.empty() || ((*place)->kind() == batch.front()->kind() &&
                                        sentences + (*place)->sentences() <= options_.sentences);
    if (!fits) {
      ++place;
      continue;
    }
    sentences += (*place)->sentences();
    batch.push_back(std::move(*place));
    place = queue.erase(place);
    if (sentences >= options_.sentences || batch.front()->is_long()) break;
  }
  return batch;
}

void Batcher::serve(Queue& queue) {
  for (;;) {
    Items batch;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [&] { return finishing_ || !queue.empty(); });
      if (queue.empty()) return;
      batch = next_batch(queue);
    }
    if (!batch.empty()) work_(batch);
  }
}

}  // namespace heed
