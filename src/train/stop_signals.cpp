#include "heed/train/stop_signals.h"

#include <atomic>
#include <csignal>

namespace heed {
namespace {

std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch what has no lock");

extern "C" void remember_signal(int signal) {
  caught_signal.store(signal);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  caught_signal.store(0);
  std::signal(SIGINT, remember_signal);
  std::signal(SIGTERM, remember_signal);
}

StopSignals::~StopSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int StopSignals::caught() const { return caught_signal.load(); }

}  // namespace heed
