#pragma once

#include <array>
#include <csignal>

namespace heed {

// While one of these lives, the first SIGINT, SIGTERM or SIGHUP is only remembered, so that work in hand can be
// finished and saved; a second SIGINT or SIGTERM ends the process as if nobody listened. A second SIGHUP does not: when
// a terminal goes, both the system and the shell send one. SIGHUP that was ignored from the start (nohup) stays
// ignored. Afterwards signals do what they did before. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal that came, or 0.
  int caught() const;

 private:
  std::array<struct sigaction, 3> before_;
};

}  // namespace heed
