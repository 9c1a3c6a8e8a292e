#include "heed/train/stop_signals.h"

#include <atomic>

#include "heed/base/signal_stack.h"

namespace heed {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch what has no lock");

// On a stack of its own: it may interrupt a matrix product (base/signal_stack.h).
void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

extern "C" void remember_signal(int signal) {
  int none = 0;
  caught_signal.compare_exchange_strong(none, signal);
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  caught_signal.store(0);
  use_signal_stack();
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (kSignals[i] != SIGHUP || before_[i].sa_handler != SIG_IGN) handle(kSignals[i], remember_signal);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    // Another one may be on its way, and there are files still to be written.
    if (kSignals[i] == SIGHUP && caught() == SIGHUP && before_[i].sa_handler == SIG_DFL)
      before_[i].sa_handler = SIG_IGN;
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

int StopSignals::caught() const { return caught_signal.load(); }

}  // namespace heed
