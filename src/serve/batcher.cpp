#include "heed/serve/batcher.h"

namespace heed {

Batcher::Batcher(BatcherOptions options, std::function<void(const Items&)> work)
    : options_(options), work_(std::move(work)), thread_([this] { serve(); }) {}

Batcher::~Batcher() { finish(); }

Batcher::Taken Batcher::submit(std::shared_ptr<BatchItem> item) {
  const std::lock_guard lock(mutex_);
  if (finishing_) return Taken::finishing;
  if (static_cast<Index>(waiting_.size()) >= options_.queue) return Taken::full;
  waiting_.push_back(std::move(item));
  filled_.notify_one();
  return Taken::yes;
}

Index Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<Index>(waiting_.size());
}

void Batcher::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    filled_.notify_one();
  }
  std::call_once(joined_, [this] { thread_.join(); });
}

Batcher::Items Batcher::next_batch() {
  Items batch;
  Index sentences = 0;
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    if (!(*place)->wanted()) {
      place = waiting_.erase(place);
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
    place = waiting_.erase(place);
    if (sentences >= options_.sentences) break;
  }
  return batch;
}

void Batcher::serve() {
  for (;;) {
    Items batch;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return finishing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch = next_batch();
    }
    if (!batch.empty()) work_(batch);
  }
}

}  // namespace heed
