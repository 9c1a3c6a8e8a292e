#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heed::memory {

// The pool all tensors and tape nodes come from. What is freed is handed out again, so training stops asking the system
// after its first steps: small blocks by size class, per thread and without a lock; large ones from a heap all share.

struct Statistics {
  std::uint64_t system_allocations = 0;  // times the system was asked for memory
  std::size_t system_bytes = 0;          // held from the system, in use or waiting
  std::size_t bytes_in_use = 0;          // handed out now
  std::size_t peak_bytes = 0;            // most bytes_in_use since the start or the last reset_peak
};
Statistics statistics();
void reset_peak();
// Gives the free blocks of this thread and of the shared lists back to the system.
void trim();
// Asking beyond this is an Error with the size asked for; 0 (the default) leaves it to the system.
void set_limit(std::size_t bytes);

// Aligned to 64 bytes, never null. Throws Error when there is no memory.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;

// A shared, counted piece of pool memory.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  Buffer(const Buffer& other) noexcept : header_(other.header_) {
    if (header_) header_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : header_(std::exchange(other.header_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(header_, other.header_);
    return *this;
  }
  ~Buffer() {
    if (header_ && header_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(header_);
  }

  explicit operator bool() const { return header_ != nullptr; }
  void* data() const { return header_->data; }
  // True when no one else holds this memory: it may be written in place. Never true of foreign memory, whose owner
  // still sees it.
  bool unique() const { return header_ && !header_->foreign && header_->owners.load(std::memory_order_acquire) == 1; }

  // Memory owned by someone else, e.g. a mapped file or a NumPy array; `release_owner(owner)` is called at the end.
  static Buffer foreign(void* data, void* owner, void (*release_owner)(void*));

 private:
  struct Header {
    std::atomic<std::uint32_t> owners{1};
    bool foreign = false;
    void* data = nullptr;
    void* owner = nullptr;
    void (*release_owner)(void*) = nullptr;
  };
  static void destroy(Header* header) noexcept;
  Header* header_ = nullptr;
};

}  // namespace heed::memory
