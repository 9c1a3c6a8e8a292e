#pragma once

#include <gtest/gtest.h>

#include "heed/jobs/runner.h"
#include "heed/jobs/training.h"
#include "support/temporary_folder.h"

namespace heed::test {

// A folder in which a tiny model is trained, once for all tests of a suite. A warning of what runs it is a failure.
class TrainedModelTest : public testing::Test {
 protected:
  // What a suite begins with, before it writes the files that its model is trained on.
  static void make_folder() { folder_ = std::make_unique<TemporaryFolder>(); }
  // Into "model".
  static void train(std::vector<GivenOption> options) {
    options.insert(options.end(), {{"output", file("model"), ""}, {"threads", "1", ""}, {"shards", "2", ""}});
    train_model(plan_training(options), false, [](const std::string&) {});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string file(const std::string& name) { return (folder_->path() / name).string(); }
  static Runner runner() {
    return {{folder_->path() / "model"}, 1, [](const std::string& line) { ADD_FAILURE() << line; }};
  }

  static inline std::unique_ptr<TemporaryFolder> folder_;  // of the suite that runs
};

}  // namespace heed::test
