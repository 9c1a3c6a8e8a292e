#include "heed/jobs/training_data.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Lines = std::vector<std::string>;

class TrainingDataTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    write_file(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }
  Training training(const std::string& source) const {
    Training training(job_named("translation"));
    training.sides[0].files = source;
    training.sides[1].files = target_;
    training.vectors = vectors_;
    return training;
  }
  // What is different now, without the folder.
  Lines changes(const Training& now) const {
    Lines lines = TrainingData(now).since(TrainingData::from_json(before_, "data.json")).changes;
    for (std::string& line : lines)
      for (std::size_t at; (at = line.find(folder_.path().string() + "/")) != std::string::npos;)
        line.erase(at, folder_.path().string().size() + 1);
    return lines;
  }

  TemporaryFolder folder_;
  const std::string target_ = write("train.de", "x\ny\n"), vectors_ = write("glove", "a 1\n");
  const std::string source_ = write("train.en", "a\nb\n");
  const std::string before_ = TrainingData(training(source_)).json();
};

TEST_F(TrainingDataTest, WhatIsTheSameMayHaveAnotherName) {
  EXPECT_EQ(changes(training(source_)), Lines{});
  EXPECT_EQ(changes(training(write("moved.en", "a\nb\n"))), Lines{});
  EXPECT_EQ(changes(training(source_ + "#train")), Lines{});  // a part of it
}

TEST_F(TrainingDataTest, WhatChangedIsNamed) {
  write("train.en", "a\nb\nc\n");
  EXPECT_EQ(changes(training(source_)), Lines{"train.en (--source): it has 6 bytes and had 4"});
  write("train.en", "b\na\n");  // turned round
  write("glove", "a 2\n");
  EXPECT_EQ(changes(training(source_)),
            (Lines{"train.en (--source): it is as long as it was, but something else stands in it",
                   "glove (--vectors): it is as long as it was, but something else stands in it"}));
  EXPECT_EQ(changes(training(source_ + "," + source_))[0], "--source: 2 files now and 1 before");
  Training without = training(write("train.en", "a\nb\n"));
  without.vectors = "";
  EXPECT_EQ(changes(without), Lines{"--vectors: 0 files now and 1 before"});
}

TEST_F(TrainingDataTest, OfLargeFilesTimesAreTold) {
  const std::string large = write("large.en", "");
  std::filesystem::resize_file(large, kDigestedWhole + 1);
  Training training = this->training(large);
  const TrainingData before(training);
  const auto again = [&] { return TrainingData(training).since(before); };
  EXPECT_TRUE(again().doubts.empty());
  std::filesystem::last_write_time(large, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(again().doubts.size(), 1u);
  EXPECT_TRUE(again().changes.empty());
  training.digest = "full";  // now it is known whole, but then it was sampled
  EXPECT_TRUE(again().changes.empty());
}

TEST_F(TrainingDataTest, AListThatIsNoneIsAnError) {
  for (const char* text : {"{}", "[1]", R"({"files": [{"option": "source"}]})", R"({"files": 1})"})
    EXPECT_EQ(message_of([&] { TrainingData::from_json(text, "f"); }),
              "f: it is damaged: it does not say what the training reads")
        << text;
}

}  // namespace
}  // namespace heed
