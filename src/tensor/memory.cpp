#include "heed/tensor/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>

#include "heed/base/error.h"

namespace heed::memory {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSteps = 8;            // classes between a size and its double: at most 12.5 % is unused
constexpr std::size_t kSmall = 64 * 1024;    // blocks up to this come by class and are kept per thread
constexpr std::size_t kKeptPerThread = 128;  // of each class; half go to the shared list beyond that
constexpr std::size_t kSegment = 32 << 20;   // the heap of large blocks asks the system for at least so much
constexpr std::size_t kLargest = std::size_t{1} << 50;

// Stands right before the memory that is handed out.
struct alignas(kAlignment) Block {
  std::size_t bytes;  // usable
  Block* next;        // in its free list
  // Of large blocks only:
  Block* previous;  // in its free list
  Block* below;     // the neighbour before it in its segment, null for the first
  bool last;        // of its segment
  bool free;

  Block* above() { return last ? nullptr : reinterpret_cast<Block*>(reinterpret_cast<char*>(this + 1) + bytes); }
};
static_assert(sizeof(Block) == kAlignment);

constexpr std::size_t class_of(std::size_t bytes) {
  const std::size_t units = std::max<std::size_t>((bytes + kAlignment - 1) / kAlignment, kSteps);
  const int log = std::bit_width(units) - 1;  // units in [2^log, 2^(log+1)), log >= 3
  const std::size_t step = std::size_t{1} << (log - 3);
  const std::size_t above = (units - (std::size_t{1} << log) + step - 1) / step;
  return static_cast<std::size_t>(log - 3) * kSteps + above;
}

constexpr std::size_t bytes_of(std::size_t size_class) {
  const std::size_t log = size_class / kSteps + 3, above = size_class % kSteps;
  return ((std::size_t{1} << log) + (above << (log - 3))) * kAlignment;
}

struct FreeList {
  Block* head = nullptr;
  std::size_t count = 0;
  void push(Block* block) {
    block->next = head;
    head = block;
    ++count;
  }
  Block* pop() {
    Block* block = head;
    if (block) {
      head = block->next;
      --count;
    }
    return block;
  }
};

constexpr std::size_t kClasses = class_of(kSmall) + 1;

// What is set aside for so many bytes: a class, or in the heap whole units of alignment.
constexpr std::size_t rounded(std::size_t bytes) {
  return bytes <= kSmall ? bytes_of(class_of(bytes)) : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Large blocks, cut from segments of the system's memory: the best fit is split, and a freed block joins its free
// neighbours, so that batches of every length share the same memory. Free blocks wait in lists by size class. No lock.
class Heap {
 public:
  // Null if no free block is large enough.
  Block* take(std::size_t bytes) {
    Block* const block = best_fit(bytes);
    if (!block) return nullptr;
    remove(block);
    if (block->bytes >= bytes + sizeof(Block) + kLeastRest) {
      Block* const rest = new (reinterpret_cast<char*>(block + 1) + bytes) Block;
      rest->bytes = block->bytes - bytes - sizeof(Block);
      rest->below = block;
      rest->last = block->last;
      if (Block* const after = rest->above()) after->below = rest;
      block->bytes = bytes;
      block->last = false;
      insert(rest);
    }
    return block;
  }
  void give(Block* block) {
    if (Block* const after = block->above(); after && after->free) {
      remove(after);
      swallow(block, after);
    }
    if (Block* const before = block->below; before && before->free) {
      remove(before);
      swallow(before, block);
      block = before;
    }
    insert(block);
  }
  // A segment of so many usable bytes.
  void add(void* segment, std::size_t bytes) {
    Block* const block = new (segment) Block;
    block->bytes = bytes;
    block->below = nullptr;
    block->last = true;
    insert(block);
  }
  // Takes out a segment nothing of which is in use, or returns null.
  Block* take_idle_segment() {
    for (Block* const first : free_) {
      for (Block* block = first; block; block = block->next) {
        if (block->below != nullptr || !block->last) continue;
        remove(block);
        return block;
      }
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kLeastRest = 4096;  // what is left of a split block

  Block* best_fit(std::size_t bytes) const {
    for (std::size_t c = class_of(bytes); c < free_.size(); ++c) {
      Block* best = nullptr;
      for (Block* block = free_[c]; block; block = block->next)
        if (block->bytes >= bytes && (!best || block->bytes < best->bytes)) best = block;
      if (best) return best;
    }
    return nullptr;
  }
  void insert(Block* block) {
    Block*& first = free_[class_of(block->bytes)];
    block->free = true;
    block->previous = nullptr;
    block->next = first;
    if (first) first->previous = block;
    first = block;
  }
  void remove(Block* block) {
    block->free = false;
    if (block->next) block->next->previous = block->previous;
    (block->previous ? block->previous->next : free_[class_of(block->bytes)]) = block->next;
  }
  static void swallow(Block* block, Block* after) {
    block->bytes += sizeof(Block) + after->bytes;
    block->last = after->last;
    if (Block* const next = block->above()) next->below = block;
  }

  std::array<Block*, class_of(2 * kLargest)> free_{};
};

struct Shared {
  std::mutex mutex;
  std::array<FreeList, kClasses> free;
  Heap heap;
  std::atomic<std::uint64_t> system_allocations{0};
  std::atomic<std::size_t> system_bytes{0}, in_use{0}, peak{0}, limit{0};

  void give_back(Block* block) {
    system_bytes.fetch_sub(block->bytes + sizeof(Block), std::memory_order_relaxed);
    std::free(block);
  }
};

// Never destroyed: tensors with static lifetime may be freed after any static here would be.
Shared& shared() {
  static Shared* instance = new Shared;
  return *instance;
}

struct ThreadCache {
  std::array<FreeList, kClasses> free;
  ~ThreadCache() { hand_over(); }
  void hand_over() {
    const std::lock_guard lock(shared().mutex);
    for (std::size_t c = 0; c < free.size(); ++c)
      while (Block* block = free[c].pop()) shared().free[c].push(block);
  }
};

// Null once the thread's cache is gone (static destructors that free tensors late).
thread_local bool cache_gone = false;
ThreadCache* cache() {
  struct Holder {
    ThreadCache cache;
    ~Holder() { cache_gone = true; }
  };
  if (cache_gone) return nullptr;
  thread_local Holder holder;
  return &holder.cache;
}

void* from_system(std::size_t bytes) {
  void* const memory = std::aligned_alloc(kAlignment, bytes);
  if (!memory) return nullptr;
  shared().system_allocations.fetch_add(1, std::memory_order_relaxed);
  shared().system_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return memory;
}

Block* new_small(std::size_t size_class) {
  void* const memory = from_system(bytes_of(size_class) + sizeof(Block));
  if (!memory) return nullptr;
  Block* const block = new (memory) Block;
  block->bytes = bytes_of(size_class);
  return block;
}

Block* small_block(std::size_t size_class) {
  if (ThreadCache* local = cache())
    if (Block* const block = local->free[size_class].pop()) return block;
  {
    const std::lock_guard lock(shared().mutex);
    if (Block* const block = shared().free[size_class].pop()) return block;
  }
  if (Block* const block = new_small(size_class)) return block;
  trim();  // what waits may be what is missing
  return new_small(size_class);
}

// Pages of the system's large size, where it gives them when asked: a segment's first use then costs a few faults
// instead of thousands. What the system answers does not matter.
void ask_for_large_pages(void* memory, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* begin = memory;
  if (std::align(page, page, begin, bytes)) ::madvise(begin, bytes / page * page, MADV_HUGEPAGE);
}

Block* new_large(std::size_t bytes) {
  for (const std::size_t usable : {std::max(bytes, kSegment - sizeof(Block)), bytes}) {
    void* const memory = from_system(usable + sizeof(Block));
    if (!memory) continue;
    ask_for_large_pages(memory, usable);
    shared().heap.add(memory, usable);
    return shared().heap.take(bytes);
  }
  return nullptr;
}

Block* large_block(std::size_t bytes) {
  {
    const std::lock_guard lock(shared().mutex);
    if (Block* const block = shared().heap.take(bytes)) return block;
    if (Block* const block = new_large(bytes)) return block;
  }
  trim();
  const std::lock_guard lock(shared().mutex);
  return new_large(bytes);
}

void count_in(std::size_t bytes) {
  Shared& all = shared();
  const std::size_t now = all.in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t peak = all.peak.load(std::memory_order_relaxed);
  while (now > peak && !all.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

void* allocate(std::size_t bytes) {
  require(bytes <= kLargest, "[memory] cannot allocate {} bytes", bytes);
  const std::size_t size = rounded(bytes), limit = shared().limit.load(std::memory_order_relaxed);
  if (limit != 0) [[unlikely]] {  // holds for kept blocks as for new ones
    const std::size_t used = shared().in_use.load(std::memory_order_relaxed);
    require(used + size <= limit, "[memory] cannot allocate {} bytes ({} bytes in use, limit {})", bytes, used, limit);
  }
  Block* const block = size <= kSmall ? small_block(class_of(size)) : large_block(size);
  require(block != nullptr, "[memory] cannot allocate {} bytes ({} bytes in use)", bytes, shared().in_use.load());
  count_in(block->bytes);
  return block + 1;
}

void release(void* memory) noexcept {
  if (!memory) return;
  Block* block = static_cast<Block*>(memory) - 1;
  Shared& all = shared();
  all.in_use.fetch_sub(block->bytes, std::memory_order_relaxed);
  if (block->bytes > kSmall) {
    const std::lock_guard lock(all.mutex);
    all.heap.give(block);
    return;
  }
  const std::size_t size_class = class_of(block->bytes);
  ThreadCache* const local = cache();
  if (!local) {
    const std::lock_guard lock(all.mutex);
    all.free[size_class].push(block);
    return;
  }
  FreeList& list = local->free[size_class];
  list.push(block);
  if (list.count <= kKeptPerThread) return;
  // A thread that frees more than it allocates feeds the others through the shared list.
  const std::lock_guard lock(all.mutex);
  while (list.count > kKeptPerThread / 2) all.free[size_class].push(list.pop());
}

Statistics statistics() {
  const Shared& all = shared();
  return {all.system_allocations.load(), all.system_bytes.load(), all.in_use.load(), all.peak.load()};
}

void reset_peak() { shared().peak.store(shared().in_use.load()); }

void trim() {
  if (ThreadCache* local = cache()) local->hand_over();
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  for (FreeList& list : all.free)
    while (Block* block = list.pop()) all.give_back(block);
  while (Block* segment = all.heap.take_idle_segment()) all.give_back(segment);
}

void set_limit(std::size_t bytes) { shared().limit.store(bytes); }

Buffer::Buffer(std::size_t bytes) {
  static_assert(sizeof(Header) <= kAlignment);
  char* memory = static_cast<char*>(allocate(bytes + kAlignment));
  header_ = new (memory) Header;
  header_->data = memory + kAlignment;
}

Buffer Buffer::foreign(void* data, void* owner, void (*release_owner)(void*)) {
  Buffer buffer;
  buffer.header_ = new (allocate(sizeof(Header))) Header;
  buffer.header_->foreign = true;
  buffer.header_->data = data;
  buffer.header_->owner = owner;
  buffer.header_->release_owner = release_owner;
  return buffer;
}

void Buffer::destroy(Header* header) noexcept {
  if (header->release_owner) header->release_owner(header->owner);
  header->~Header();
  release(header);
}

}  // namespace heed::memory
