#pragma once

namespace heed {

// While one of these lives, the first SIGINT or SIGTERM is only remembered, so that work in hand can be finished and
// saved; the second one ends the process as if nobody listened. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal that came, or 0.
  int caught() const;
};

}  // namespace heed
