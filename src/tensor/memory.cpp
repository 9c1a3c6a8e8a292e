#include "heed/tensor/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "heed/base/error.h"

namespace heed::memory {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSteps = 8;            // classes between a size and its double: at most 12.5 % is unused
constexpr std::size_t kClasses = 8 * 44;     // up to 2^50 bytes
constexpr std::size_t kSmall = 64 * 1024;    // blocks up to this are kept per thread
constexpr std::size_t kKeptPerThread = 128;  // of each small class; half go to the shared list beyond that
constexpr std::size_t kWiderClasses = 4;     // a large request may take a block of up to 1.5 times its size

// Stands right before the memory that is handed out.
struct alignas(kAlignment) Block {
  std::size_t bytes;  // usable
  std::uint32_t size_class;
  Block* next;
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

struct Shared {
  std::mutex mutex;
  std::array<FreeList, kClasses> free;
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
  std::array<FreeList, class_of(kSmall) + 1> free;
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

Block* from_system(std::size_t size_class, std::size_t asked) {
  Shared& all = shared();
  const std::size_t bytes = bytes_of(size_class);
  void* memory = std::aligned_alloc(kAlignment, bytes + sizeof(Block));
  if (!memory) {  // what waits in the lists may be what is missing
    trim();
    memory = std::aligned_alloc(kAlignment, bytes + sizeof(Block));
  }
  require(memory != nullptr, "[memory] cannot allocate {} bytes ({} bytes in use)", asked, all.in_use.load());
  all.system_allocations.fetch_add(1, std::memory_order_relaxed);
  all.system_bytes.fetch_add(bytes + sizeof(Block), std::memory_order_relaxed);
  Block* block = new (memory) Block;
  block->bytes = bytes;
  block->size_class = static_cast<std::uint32_t>(size_class);
  return block;
}

Block* from_shared(std::size_t size_class) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  const bool small = bytes_of(size_class) <= kSmall;
  const std::size_t widest = small ? size_class : std::min(size_class + kWiderClasses, kClasses - 1);
  for (std::size_t c = size_class; c <= widest; ++c)
    if (Block* block = all.free[c].pop()) return block;
  return nullptr;
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
  require(bytes <= std::numeric_limits<std::size_t>::max() / 4 && class_of(bytes) < kClasses,
          "[memory] cannot allocate {} bytes", bytes);
  const std::size_t size_class = class_of(bytes);
  const std::size_t limit = shared().limit.load(std::memory_order_relaxed);
  if (limit != 0) [[unlikely]] {  // holds for kept blocks as for new ones
    const std::size_t used = shared().in_use.load(std::memory_order_relaxed);
    require(used + bytes_of(size_class) <= limit, "[memory] cannot allocate {} bytes ({} bytes in use, limit {})",
            bytes, used, limit);
  }
  Block* block = nullptr;
  if (bytes_of(size_class) <= kSmall)
    if (ThreadCache* local = cache()) block = local->free[size_class].pop();
  if (!block) block = from_shared(size_class);
  if (!block) block = from_system(size_class, bytes);
  count_in(block->bytes);
  return block + 1;
}

void release(void* memory) noexcept {
  if (!memory) return;
  Block* block = static_cast<Block*>(memory) - 1;
  Shared& all = shared();
  all.in_use.fetch_sub(block->bytes, std::memory_order_relaxed);
  ThreadCache* local = block->bytes <= kSmall ? cache() : nullptr;
  if (local) {
    FreeList& list = local->free[block->size_class];
    list.push(block);
    if (list.count <= kKeptPerThread) return;
    // A thread that frees more than it allocates feeds the others through the shared list.
    const std::lock_guard lock(all.mutex);
    while (list.count > kKeptPerThread / 2) all.free[block->size_class].push(list.pop());
    return;
  }
  const std::lock_guard lock(all.mutex);
  all.free[block->size_class].push(block);
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
