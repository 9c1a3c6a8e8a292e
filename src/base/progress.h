#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "heed/base/real.h"

namespace heed {

// Where progress is shown, and by which clock. Tests give their own.
struct ProgressScreen {
  std::function<void(std::string_view)> write;
  std::function<double()> seconds;  // never goes back
  std::function<int()> columns;     // asked at every redraw, since windows change
  bool terminal = false;            // one line that is redrawn; otherwise lines for a log
  bool unicode = false;
  bool colour = false;

  // The standard error as it is: a terminal or not, its width, the locale's encoding, NO_COLOR.
  static ProgressScreen standard_error();
};

struct ProgressTask {
  std::string title;
  Index total = 0;  // 0: unknown
  std::string unit = "steps";
  Index start = 0;  // done before, by an earlier run; not counted in the rate
};

// Shows how far long work has come: share, count, rate, time gone and time left, and a free text such as the loss.
// On a terminal one line, redrawn at most ten times a second; elsewhere a line at the start, every ten seconds and at
// the end. All members may be called from any thread; an update that is not due costs little more than the clock.
class Progress {
 public:
  explicit Progress(ProgressTask task, ProgressScreen screen = ProgressScreen::standard_error());
  // Finishes, also when an exception ends the work: what is printed next starts on a new line.
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(Index done);
  void update(Index done, std::string_view text);
  void advance(Index count = 1);
  // Prints a line of its own, above the bar.
  void note(std::string_view line);
  // Shows the last state and ends the line. Later calls do nothing.
  void finish();

 private:
  void show_if_due();
  void show(double now);  // with mutex_ held
  std::string terminal_line(double now) const;
  std::string log_line(double now) const;

  const ProgressTask task_;
  const ProgressScreen screen_;
  const double began_;
  std::atomic<Index> done_;
  std::atomic<double> due_;
  std::mutex mutex_;  // guards what follows, and the order of what is written
  std::string text_, last_line_;
  bool finished_ = false;
};

}  // namespace heed
