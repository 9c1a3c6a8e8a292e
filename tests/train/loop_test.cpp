#include "heed/train/loop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "heed/base/file.h"
#include "heed/store/safetensors.h"
#include "support/messages.h"
#include "support/temporary_folder.h"
#include "train/toy_task.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::no_screen;
using test::toy_options;
using test::toy_schedule;
using test::ToyTask;

// A run in a folder: its checkpoint, the weights it kept and its log.
struct ToyRun {
  explicit ToyRun(const fs::path& place, LoopOptions options = toy_options())
      : folder(place), loop(task.parameters, task, toy_schedule(), std::move(options)) {
    if (fs::exists(folder / "checkpoint")) loop.resume(load_checkpoint(folder / "checkpoint"));
  }
  LoopResult run() {
    TrainingLog log(folder / "log", loop.step(), 0, no_screen());
    LoopFiles files;
    files.save = [this](const Checkpoint& checkpoint) { save_checkpoint(folder / "checkpoint", checkpoint); };
    files.keep = [this] {
      save_safetensors(folder / "model", std::vector<NamedTensor>{{"weight", task.parameters.at("weight").value()}});
    };
    return loop.run(files, log);
  }

  fs::path folder;
  ToyTask task;
  TrainingLoop loop;
};

LoopOptions until(Index steps) {
  LoopOptions options = toy_options();
  options.steps = steps;
  return options;
}

// The log without what depends on the clock.
std::string log_of(const fs::path& folder) {
  std::ifstream in(folder / "log");
  std::string all;
  for (std::string line; std::getline(in, line);) {
    nlohmann::json json = nlohmann::json::parse(line);
    json.erase("seconds");
    json.erase("words_per_second");
    all += json.dump() + "\n";
  }
  return all;
}

// The lines about steps, without those about validations.
std::string losses_in(const std::string& log) {
  std::istringstream lines(log);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (line.find("\"loss\"") != std::string::npos) kept += line + "\n";
  return kept;
}

// The checkpoint's bits, but for the seconds and the best score: the validation at the end of a run may find a better
// one.
Checkpoint checkpoint_of(const fs::path& folder) { return load_checkpoint(folder / "checkpoint"); }
void expect_same_checkpoints(const Checkpoint& a, const Checkpoint& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [part, state] : a) {
    const TrainingState& other = part_of(b, part);
    ASSERT_EQ(state.tensors.size(), other.tensors.size()) << part;
    for (const NamedTensor& each : state.tensors) {
      const Tensor& twin = other.tensor(each.name, "test");
      ASSERT_TRUE(each.tensor.shape() == twin.shape());
      EXPECT_EQ(std::memcmp(each.tensor.data(), twin.data(), static_cast<std::size_t>(twin.size()) * sizeof(Real)), 0)
          << part << "/" << each.name;
    }
    ASSERT_EQ(state.numbers.size(), other.numbers.size()) << part;
    for (const NamedNumber& each : state.numbers)
      if (each.name != "seconds" && each.name != "best") {
        EXPECT_EQ(each.number, other.number(each.name, "test")) << part << "/" << each.name;
      }
  }
}

// Runs `body` in a child process, which ends with the number it returns.
pid_t start_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (...) {
      code = 98;
    }
    ::_exit(code);
  }
  return child;
}
int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(TrainingLoop, LearnsAndKeepsTheBest) {
  const TemporaryFolder folder;
  LoopOptions options = until(400);
  options.save = {};
  ToyRun run(folder.path(), options);
  const LoopResult result = run.run();
  EXPECT_EQ(result.end, LoopEnd::steps);
  EXPECT_EQ(result.step, 400);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_LT(*result.best, 0.1);
  EXPECT_TRUE(fs::exists(folder.path() / "model"));
}

TEST(TrainingLoop, ResumesExactlyWhereverItStopped) {
  const TemporaryFolder whole;
  ToyRun(whole.path(), until(47)).run();
  for (const Index stop : {1, 4, 10, 23, 46}) {
    const TemporaryFolder parts;
    ToyRun(parts.path(), until(stop)).run();
    ToyRun(parts.path(), until(47)).run();
    expect_same_checkpoints(checkpoint_of(whole.path()), checkpoint_of(parts.path()));
    EXPECT_EQ(losses_in(log_of(whole.path())), losses_in(log_of(parts.path()))) << "stopped at " << stop;
  }
}

TEST(TrainingLoop, GivesTheSameBitsForAnyNumberOfThreads) {
  const TemporaryFolder one, three;
  LoopOptions options = until(20);
  options.workers.threads = 1;
  ToyRun(one.path(), options).run();
  options.workers.threads = 3;
  ToyRun(three.path(), options).run();
  expect_same_checkpoints(checkpoint_of(one.path()), checkpoint_of(three.path()));
}

TEST(TrainingLoop, TwoBatchesAnUpdateAreTheMeanOverBoth) {
  // One step of SGD over two batches moves as far as half the sum of two steps from the same place.
  const auto weight_after = [](Index skipped, Index delay) {
    ToyTask task;
    LoopOptions options;
    options.optimiser = optimiser_named("sgd");
    options.workers = {.shards = 1, .threads = 1, .seed = 1};
    options.delay = delay;
    options.steps = 1;
    task.seek({{}, {{"drawn", static_cast<double>(skipped)}}});
    TrainingLoop loop(task.parameters, task, constant_rate(0.01), options);
    TrainingLog log("", 0, 0, no_screen());
    loop.run({[](const Checkpoint&) {}, [] {}}, log);
    return static_cast<double>(task.parameters.at("weight").value().data()[0]);
  };
  ToyTask fresh;
  const double start = static_cast<double>(fresh.parameters.at("weight").value().data()[0]);
  const double first = weight_after(0, 1) - start, both = weight_after(0, 2) - start;
  const double second = 2 * both - first;
  // The second batch's noise differs with its number in the run, so only the size is compared.
  EXPECT_NEAR(second, weight_after(1, 1) - start, 0.01);
  EXPECT_NE(first, both);
}

TEST(TrainingLoop, StopsAfterEpochsAndGoesOnExactly) {
  const TemporaryFolder whole, parts;
  LoopOptions options = toy_options();
  options.delay = 1;
  options.validate = {.steps = 0, .epochs = 1};
  options.save = {.steps = 0, .epochs = 1};
  options.epochs = 4;
  const LoopResult result = ToyRun(whole.path(), options).run();
  EXPECT_EQ(result.end, LoopEnd::epochs);
  EXPECT_EQ(result.step, 4 * ToyTask::kBatches);
  for (const Index epochs : {1, 2, 4}) {
    options.epochs = epochs;
    EXPECT_EQ(ToyRun(parts.path(), options).run().step, epochs * ToyTask::kBatches);
  }
  const Checkpoint a = checkpoint_of(whole.path()), b = checkpoint_of(parts.path());
  for (const char* part : {"parameters", "optimiser", "data", "average"}) {
    const Checkpoint one{{part, part_of(a, part)}}, other{{part, part_of(b, part)}};
    expect_same_checkpoints(one, other);
  }
}

TEST(TrainingLoop, StopsWhenNothingImprovesAndKeepsTheBestWeights) {
  const TemporaryFolder folder;
  LoopOptions options = toy_options();
  options.validate = {.steps = 2};
  options.patience = 3;
  ToyRun run(folder.path(), options);
  run.task.scores = {1, 5, 4, 4.5, 6, 6, 5, 5.9};
  const LoopResult result = run.run();
  EXPECT_EQ(result.end, LoopEnd::patience);
  EXPECT_EQ(result.step, 16);
  EXPECT_EQ(*result.best, 6);
  EXPECT_EQ(run.task.validations, 8u);
  // The weights on the disk are those of step 10, not of the end.
  const TemporaryFolder until_best;
  options.steps = 10;
  ToyRun shorter(until_best.path(), options);
  shorter.task.scores = run.task.scores;
  shorter.run();
  const Checkpoint then = checkpoint_of(until_best.path());
  const SafetensorsFile kept(folder.path() / "model");
  EXPECT_EQ(kept.tensor("weight").at({0, 0}), part_of(then, "average").tensor("weight", "test").at({0, 0}));
}

TEST(TrainingLoop, ALossThatIsNoNumberStopsNamesTheOpAndKeepsTheCheckpoint) {
  const TemporaryFolder folder;
  ToyRun run(folder.path(), until(100));
  run.task.break_at = 16;  // in step 8
  const std::string message = message_of([&] { run.run(); });
  EXPECT_NE(message.find("the loss of step 8 is not a number"), std::string::npos) << message;
  EXPECT_NE(message.find("[sqrt]"), std::string::npos) << message;
  EXPECT_FALSE(checking_numbers());
  const Checkpoint left = checkpoint_of(folder.path());
  EXPECT_EQ(part_of(left, "loop").number("step", "test"), 6);
  for (const Real x : part_of(left, "parameters").tensor("weight", "test").values()) EXPECT_TRUE(std::isfinite(x));
}

TEST(TrainingLoop, AFullDiskIsAnErrorAndTheOldCheckpointStays) {
  const TemporaryFolder folder;
  ToyRun(folder.path(), until(3)).run();
  const std::string before = read_file(folder.path() / "checkpoint");
  const int status = status_of(start_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{600, 600};  // the weights fit, a checkpoint does not
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    try {
      LoopOptions options = until(9);
      options.workers.threads = 1;  // a child of fork has no threads but its own
      ToyRun run(folder.path(), options);
      TrainingLog log("", 3, 0, no_screen());
      run.loop.run({[&](const Checkpoint& c) { save_checkpoint(folder.path() / "checkpoint", c); }, [] {}}, log);
    } catch (const Error& error) {
      return std::string(error.what()).find("checkpoint: cannot write it: File too large") != std::string::npos ? 0 : 2;
    }
    return 3;
  }));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_file(folder.path() / "checkpoint"), before);
}

TEST(TrainingLoop, ASignalEndsItWithACheckpointThatGoesOnExactly) {
  const TemporaryFolder whole, parts;
  const fs::path log = parts.path() / "log";
  std::uintmax_t logged = 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = start_child([&] {
      ::signal(SIGHUP, SIG_DFL);  // it may be ignored where the tests are started
      LoopOptions options = until(0);
      options.workers.threads = 1;
      options.save = {};
      ToyRun run(parts.path(), options);
      const LoopResult result = run.run();
      return result.end == LoopEnd::signal && result.signal == number ? 0 : 1;
    });
    // It has made steps once the log grows.
    while (!fs::exists(log) || fs::file_size(log) <= logged) std::this_thread::yield();
    ASSERT_EQ(::kill(child, number), 0);
    if (number == SIGHUP) {
      ASSERT_EQ(::kill(child, number), 0);  // as when a terminal goes
    }
    const int status = status_of(child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    logged = fs::file_size(log);
  }
  const auto step = static_cast<Index>(part_of(checkpoint_of(parts.path()), "loop").number("step", "test"));
  ASSERT_GT(step, 0);
  ToyRun(parts.path(), until(step + 5)).run();
  ToyRun(whole.path(), until(step + 5)).run();
  expect_same_checkpoints(checkpoint_of(whole.path()), checkpoint_of(parts.path()));
}

TEST(TrainingLoop, AKillAtAnyMomentLeavesWhatResumes) {
  const TemporaryFolder whole, parts;
  LoopOptions options = toy_options();
  options.workers.threads = 1;
  options.save = {.steps = 1};  // nearly always writing
  options.steps = 1'000'000'000;
  std::mt19937 random(5);
  Index step = 0;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = start_child([&] {
      ToyRun run(parts.path(), options);
      run.run();
      return 0;
    });
    while (round == 0 && !fs::exists(parts.path() / "checkpoint")) std::this_thread::yield();  // there is one to lose
    std::this_thread::sleep_for(std::chrono::microseconds(5'000 + random() % 40'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    const int status = status_of(child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
    const auto now = static_cast<Index>(part_of(checkpoint_of(parts.path()), "loop").number("step", "test"));
    EXPECT_GE(now, step);
    step = now;
    EXPECT_EQ(SafetensorsFile(parts.path() / "model").names().size(), 1u);
  }
  ASSERT_GT(step, 0);
  options.steps = step + 3;
  ToyRun(parts.path(), options).run();
  ToyRun(whole.path(), options).run();
  expect_same_checkpoints(checkpoint_of(whole.path()), checkpoint_of(parts.path()));
}

TEST(TrainingLoop, RefusesACheckpointOfAnotherModel) {
  const TemporaryFolder folder;
  ToyRun(folder.path(), until(2)).run();
  Checkpoint other = checkpoint_of(folder.path());
  other["parameters"].tensors[0].tensor = Tensor(Shape{4, 1}, Real{0});
  ToyTask task;
  TrainingLoop loop(task.parameters, task, toy_schedule(), toy_options());
  EXPECT_EQ(message_of([&] { loop.resume(other); }),
            "[train] parameter weight is [4, 1] in the checkpoint and [3, 1] in the model");
}

}  // namespace
}  // namespace heed
