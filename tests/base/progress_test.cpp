#include "heed/base/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace heed {
namespace {

// A screen whose clock stands until the test moves it.
struct Fake {
  std::string shown;
  double now = 100;
  int width = 100;

  ProgressScreen screen(bool terminal, bool unicode = false, bool colour = false) {
    ProgressScreen screen;
    screen.write = [this](std::string_view text) { shown += text; };
    screen.seconds = [this] { return now; };
    screen.columns = [this] { return width; };
    screen.terminal = terminal;
    screen.unicode = unicode;
    screen.colour = colour;
    return screen;
  }
  std::string take() { return std::exchange(shown, ""); }
};

TEST(Progress, DrawsOneLineOnATerminal) {
  Fake fake;
  Progress progress({"train", 200, "steps"}, fake.screen(true));
  EXPECT_EQ(fake.take(), "\rtrain  [......................................]  0 %  0/200  0:00\x1b[K");
  fake.now += 10;
  progress.update(50, "loss 3.21");
  EXPECT_EQ(fake.take(),
            "\rtrain  [#######.....................]  25 %  50/200  5.00 steps/s  0:10, 0:30 left  loss 3.21"
            "\x1b[K");
  fake.now += 30;
  progress.update(200);
  EXPECT_EQ(fake.take(),
            "\rtrain  [######################################]  100 %  200/200  5.00 steps/s  0:40  loss 3.21\x1b[K");
  progress.finish();
  EXPECT_EQ(fake.take(), "\n");
  progress.update(201);
  progress.finish();
  EXPECT_EQ(fake.take(), "");
}

TEST(Progress, UsesEighthsOfABlockWhereTheLocaleHasThem) {
  Fake fake;
  fake.width = 56;
  Progress progress({"t", 1000, "w"}, fake.screen(true, true));
  fake.take();
  fake.now += 1;
  progress.update(237);  // 2.37 of the 10 columns left
  EXPECT_EQ(fake.take(), "\rt  ██▎         23 %  237/1000  237 w/s  0:01, 0:04 left\x1b[K");
}

TEST(Progress, ColoursTheBarOnly) {
  Fake fake;
  Progress progress({"t", 2, "w"}, fake.screen(true, false, true));
  EXPECT_EQ(fake.take(), "\rt  \x1b[36m[......................................]\x1b[0m  0 %  0/2  0:00\x1b[K");
}

TEST(Progress, RedrawsAtMostTenTimesASecondAndTheLastStepAtOnce) {
  Fake fake;
  Progress progress({"t", 1000, "w"}, fake.screen(true));
  int drawn = 0;
  for (int i = 0; i < 1000; ++i) {
    fake.now += 0.001;
    progress.update(i);
    drawn += fake.take().empty() ? 0 : 1;
  }
  EXPECT_GE(drawn, 9);
  EXPECT_LE(drawn, 11);
  progress.update(1000);
  EXPECT_NE(fake.take().find("100 %  1000/1000"), std::string::npos);
}

TEST(Progress, ANarrowTerminalLosesTheBarThenTheEnd) {
  Fake fake;
  fake.width = 40;
  Progress progress({"train", 200, "steps"}, fake.screen(true));
  fake.take();
  fake.now += 10;
  progress.update(50, "loss 3.21");
  EXPECT_EQ(fake.take(), "\rtrain  25 %  50/200  5.00 steps/s  0:10\x1b[K");
  fake.width = 4;
  fake.now += 10;
  progress.update(51);
  EXPECT_EQ(fake.take(), "\rtra\x1b[K");
  fake.width = 0;
  fake.now += 10;
  progress.update(52);
  EXPECT_EQ(fake.take(), "\r\x1b[K");
}

TEST(Progress, MeasuresLettersNotBytes) {
  Fake fake;
  fake.width = 8;
  Progress wide({"翻訳中です"}, fake.screen(true, true));
  EXPECT_EQ(fake.take(), "\r翻訳中\x1b[K");  // two columns each: the fourth would need an eighth
  Progress marked({"e\u0301e\u0301e\u0301"}, fake.screen(true, true));
  EXPECT_EQ(fake.take(), "\re\u0301e\u0301e\u0301  0 \x1b[K");
  Progress broken({"a\xff\xc3"}, fake.screen(true, true));
  EXPECT_EQ(fake.take(), "\ra\ufffd\ufffd  0 \x1b[K");
  Progress plain({"é\n\x1b"}, fake.screen(true, false));
  EXPECT_EQ(fake.take(), "\r?    0 \x1b[K");
}

TEST(Progress, AnUnknownTotalHasNoBarAndNoEnd) {
  Fake fake;
  Progress progress({"read", 0, "lines"}, fake.screen(true));
  EXPECT_EQ(fake.take(), "\rread  0 lines  0:00\x1b[K");
  fake.now += 4000;
  progress.update(100'000'000, "ok");
  EXPECT_EQ(fake.take(), "\rread  100000000 lines  25.0k lines/s  1:06:40  ok\x1b[K");
}

TEST(Progress, WorkDoneEarlierDoesNotCountInTheRate) {
  Fake fake;
  Progress progress({"train", 1000, "steps", 900}, fake.screen(false));
  fake.take();
  fake.now += 10;
  progress.update(910);
  EXPECT_EQ(fake.take(), "train: 91 %, 910/1000, 1.00 steps/s, 0:10 elapsed, 1:30 left\n");
}

TEST(Progress, WritesFewLinesToALog) {
  Fake fake;
  {
    Progress progress({"train", 250, "steps"}, fake.screen(false));
    for (int i = 1; i <= 250; ++i) {
      fake.now += 0.125;
      progress.update(i, "loss 1");
    }
  }
  EXPECT_EQ(fake.take(),
            "train: 0 %, 0/250, 0:00 elapsed\n"
            "train: 32 %, 80/250, 8.00 steps/s, 0:10 elapsed, 0:22 left, loss 1\n"
            "train: 64 %, 160/250, 8.00 steps/s, 0:20 elapsed, 0:12 left, loss 1\n"
            "train: 96 %, 240/250, 8.00 steps/s, 0:30 elapsed, 0:02 left, loss 1\n"
            "train: 100 %, 250/250, 8.00 steps/s, 0:31 elapsed, loss 1\n");
}

TEST(Progress, ALogDoesNotSayTheSameTwice) {
  Fake fake;
  { Progress progress({"t", 0, "w"}, fake.screen(false)); }
  EXPECT_EQ(fake.take(), "t: 0 w, 0:00 elapsed\n");
}

TEST(Progress, AnExceptionEndsTheLine) {
  Fake fake;
  try {
    Progress progress({"t", 10, "w"}, fake.screen(true));
    throw std::runtime_error("bad");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(fake.shown.back(), '\n');
}

TEST(Progress, ANoteStandsAboveTheBar) {
  Fake fake;
  Progress progress({"t", 0, "w"}, fake.screen(true));
  fake.take();
  progress.note("epoch 1 done");
  EXPECT_EQ(fake.take(), "\r\x1b[Kepoch 1 done\nt  0 w  0:00");
  Progress log({"t", 0, "w"}, fake.screen(false));
  fake.take();
  log.note("epoch 1 done");
  EXPECT_EQ(fake.take(), "epoch 1 done\n");
}

TEST(Progress, CountsFromManyThreads) {
  std::string shown;
  ProgressScreen screen = ProgressScreen::standard_error();
  screen.write = [&](std::string_view text) { shown += text; };
  screen.terminal = false;
  {
    Progress progress({"t", 40'000, "w"}, screen);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 10'000; ++j) progress.advance();
        progress.note("a thread is done");
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_NE(shown.find("t: 100 %, 40000/40000, "), std::string::npos);
}

// Bits: 1 terminal, 2 unicode, 4 colour, 8 the width of the window is known.
int detected_on_a_terminal(const std::vector<std::pair<const char*, const char*>>& variables) {
  const winsize size{.ws_row = 24, .ws_col = 57, .ws_xpixel = 0, .ws_ypixel = 0};
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, &size);
  if (child == 0) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "TERM"}) ::unsetenv(name);
    for (const auto& [name, value] : variables) ::setenv(name, value, 1);
    const ProgressScreen screen = ProgressScreen::standard_error();
    ::_exit(screen.terminal + 2 * screen.unicode + 4 * screen.colour + 8 * (screen.columns() == 57));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(master);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Progress, FindsOutWhatTheTerminalCanDo) {
  EXPECT_EQ(detected_on_a_terminal({{"TERM", "xterm"}, {"LANG", "en_GB.UTF-8"}}), 1 + 2 + 4 + 8);
  EXPECT_EQ(detected_on_a_terminal({{"TERM", "xterm"}, {"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}}), 1 + 4 + 8);
  EXPECT_EQ(detected_on_a_terminal({{"TERM", "xterm"}, {"LC_CTYPE", "C.utf8"}, {"NO_COLOR", "1"}}), 1 + 2 + 8);
  EXPECT_EQ(detected_on_a_terminal({{"TERM", "xterm"}, {"NO_COLOR", ""}}), 1 + 4 + 8);
  EXPECT_EQ(detected_on_a_terminal({{"TERM", "dumb"}}), 8);
  EXPECT_EQ(detected_on_a_terminal({}), 8);
}

}  // namespace
}  // namespace heed
