#include "heed/base/signal_stack.h"

#include <sys/mman.h>

#include <csignal>
#include <cstddef>

namespace heed {
namespace {

constexpr std::size_t kSize = 256 * 1024;  // a frame with all vector registers is 3 to 12 kB

class SignalStack {
 public:
  SignalStack() {
    stack_t present{};
    if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    void* const memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;  // no worse than before
    stack_t own{};
    own.ss_sp = memory;
    own.ss_size = kSize;
    if (::sigaltstack(&own, nullptr) == 0)
      memory_ = memory;
    else
      ::munmap(memory, kSize);
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t present{}, none{};
    none.ss_flags = SS_DISABLE;
    // Somebody else's stack that came later stays, and so does ours then: it may be put back.
    if (::sigaltstack(nullptr, &present) != 0 || present.ss_sp != memory_ || ::sigaltstack(&none, nullptr) != 0) return;
    ::munmap(memory_, kSize);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace

void use_signal_stack() { static thread_local const SignalStack stack; }

}  // namespace heed
