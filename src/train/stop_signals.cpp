#include "heed/train/stop_signals.h"

#include <atomic>
#include <csignal>

#include "heed/base/signal_stack.h"

namespace heed {
namespace {

std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch what has no lock");

// On a stack of its own: it may interrupt a matrix product (base/signal_stack.h).
void handle_both(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

extern "C" void remember_signal(int signal) {
  caught_signal.store(signal);
  handle_both(SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  caught_signal.store(0);
  use_signal_stack();
  handle_both(remember_signal);
}

StopSignals::~StopSignals() { handle_both(SIG_DFL); }

int StopSignals::caught() const { return caught_signal.load(); }

}  // namespace heed
