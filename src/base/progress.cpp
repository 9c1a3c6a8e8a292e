#include "heed/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr double kRedrawSeconds = 0.1, kLogSeconds = 10;
constexpr int kBarStep = 10, kLongestBar = 40;  // in steps, so that it does not jitter with the numbers beside it
constexpr double kLongestLeft = 1e8;            // seconds; an estimate beyond three years says nothing

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;  // the first that is set decides
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int columns = std::atoi(std::string(environment("COLUMNS")).c_str());
  return columns > 0 ? columns : 80;
}

// Text -------------------------------------------------------------------------------------------------------------

// As much of `text` as fits.
std::string cut(std::string_view text, int columns) {
  std::string result;
  for (const DisplayCharacter& character : display_characters(text)) {
    columns -= character.width;
    if (columns < 0) break;
    result += character.text;
  }
  return result;
}

// One line of text without anything that would move the cursor, in ASCII if the screen knows no more.
std::string on_one_line(std::string_view text, bool unicode) {
  std::string result;
  for (const Grapheme& grapheme : split_graphemes(text)) {
    const bool ascii = grapheme.bytes.size() == 1 && grapheme.valid;
    if (is_control(grapheme.code)) {
      result += ' ';
    } else {
      result += ascii || unicode ? displayed(grapheme.bytes) : "?";
    }
  }
  return result;
}

// Three figures: 0.12, 1.23, 12.3, 1234, 12.3k.
std::string short_number(double x) {
  const char* const suffixes[] = {"", "k", "M", "G", "T"};
  std::size_t suffix = 0;
  for (double bound = 9999.5; x >= bound && suffix < 4; bound = 999.5) {
    x /= 1000;
    ++suffix;
  }
  return fmt::format("{:.{}f}{}", x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0, suffixes[suffix]);
}

// 0:07, 12:34, 1:02:03.
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bar(double share, int columns, const ProgressScreen& screen) {
  std::string drawn;
  if (screen.unicode) {
    static constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eighths = static_cast<std::size_t>(share * columns * 8);
    const std::size_t full = eighths / 8, part = eighths % 8;
    for (std::size_t i = 0; i < full; ++i) drawn += "█";
    drawn += kEighths[part];
    drawn.append(static_cast<std::size_t>(columns) - full - (part > 0), ' ');
  } else {
    const auto full = static_cast<std::size_t>(share * (columns - 2));
    drawn = "[" + std::string(full, '#') + std::string(static_cast<std::size_t>(columns - 2) - full, '.') + "]";
  }
  return screen.colour ? "\x1b[36m" + drawn + "\x1b[0m" : drawn;
}

// What both kinds of line tell, each part empty where nothing is known yet.
struct Figures {
  double share = 0;
  std::string percent, count, rate, elapsed, left;
};

Figures figures(const ProgressTask& task, Index done, double elapsed, bool finished) {
  Figures result;
  const bool known = task.total > 0;
  const double rate = elapsed > 0 ? static_cast<double>(done - task.start) / elapsed : 0;
  if (known) {
    result.share = std::clamp(static_cast<double>(done) / static_cast<double>(task.total), 0.0, 1.0);
    result.percent = fmt::format("{:.0f} %", std::floor(result.share * 100));
  }
  result.count = known ? fmt::format("{}/{}", done, task.total) : fmt::format("{} {}", done, task.unit);
  if (rate > 0) result.rate = fmt::format("{} {}/s", short_number(rate), task.unit);
  result.elapsed = clock_text(elapsed);
  const double left = known && rate > 0 && !finished ? static_cast<double>(task.total - done) / rate : 0;
  if (left > 0 && left < kLongestLeft) result.left = clock_text(std::ceil(left)) + " left";
  return result;
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string line;
  for (const std::string& part : parts)
    if (!part.empty()) line += (line.empty() ? "" : separator) + part;
  return line;
}

}  // namespace

ProgressScreen ProgressScreen::standard_error() {
  ProgressScreen screen;
  screen.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  screen.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  screen.columns = terminal_columns;
  const std::string_view kind = environment("TERM");
  screen.terminal = ::isatty(STDERR_FILENO) == 1 && !kind.empty() && kind != "dumb";
  screen.unicode = utf8_locale();
  screen.colour = screen.terminal && environment("NO_COLOR").empty();
  return screen;
}

Progress::Progress(ProgressTask task, ProgressScreen screen)
    : task_(std::move(task)), screen_(std::move(screen)), began_(screen_.seconds()), done_(task_.start), due_(began_) {
  show_if_due();
}

void Progress::update(Index done) {
  const Index before = done_.exchange(done, std::memory_order_relaxed);
  // The last step is shown at once: what follows may take long.
  if (screen_.terminal && task_.total > 0 && before < task_.total && done >= task_.total)
    due_.store(0, std::memory_order_relaxed);
  show_if_due();
}

void Progress::update(Index done, std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    text_ = text;
  }
  update(done);
}

void Progress::advance(Index count) {
  done_.fetch_add(count, std::memory_order_relaxed);
  show_if_due();
}

void Progress::show_if_due() {
  const double now = screen_.seconds();
  if (now < due_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);  // whoever holds it is drawing
  if (!lock || finished_ || now < due_.load(std::memory_order_relaxed)) return;
  show(now);
}

void Progress::show(double now) {
  due_.store(now + (screen_.terminal ? kRedrawSeconds : kLogSeconds), std::memory_order_relaxed);
  std::string line = screen_.terminal ? terminal_line(now) : log_line(now);
  if (line == last_line_) return;
  screen_.write(screen_.terminal ? "\r" + line + "\x1b[K" : line + "\n");
  last_line_ = std::move(line);
}

void Progress::note(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (!screen_.terminal || finished_) return screen_.write(std::string(line) + "\n");
  screen_.write("\r\x1b[K" + std::string(line) + "\n" + last_line_);
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  show(screen_.seconds());
  if (screen_.terminal) screen_.write("\n");
}

std::string Progress::terminal_line(double now) const {
  const Figures all = figures(task_, done_.load(std::memory_order_relaxed), now - began_, finished_);
  const int width = screen_.columns() - 1;  // a letter in the last column makes some terminals wrap
  const std::string title = on_one_line(task_.title, screen_.unicode);
  const std::string rest = on_one_line(
      joined({all.percent, all.count, all.rate, joined({all.elapsed, all.left}, ", "), text_}, "  "), screen_.unicode);
  const int room = width - static_cast<int>(display_width(title) + display_width(rest)) - 4;
  // The numbers matter more than the bar, and those in front more than the text at the end.
  if (task_.total <= 0 || room < kBarStep) return cut(joined({title, rest}, "  "), width);
  return joined({title, bar(all.share, std::min(room - room % kBarStep, kLongestBar), screen_), rest}, "  ");
}

std::string Progress::log_line(double now) const {
  const Figures all = figures(task_, done_.load(std::memory_order_relaxed), now - began_, finished_);
  const std::string elapsed = all.elapsed + " elapsed";
  const std::string rest = joined({all.percent, all.count, all.rate, elapsed, all.left, text_}, ", ");
  return on_one_line(joined({task_.title, rest}, ": "), true);
}

}  // namespace heed
