#include "heed/train/training_log.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

ProgressScreen silent() {
  return {.write = [](std::string_view) {}, .seconds = [] { return 0.0; }, .columns = [] { return 80; }};
}

TEST(TrainingLog, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "train.jsonl";
  {
    TrainingLog log(file, 0, 30, silent());
    log.steps({10, 0, 4.5, 0.1, 2, 100, 50, 2});
    log.scores(15, 1, {{"bleu", 12.5, true}, {"cross-entropy", 3, false}}, true);
    log.steps({20, 1, 3.5, 0.2, 1, 300, 100, 5});
    log.scores(30, 2, {{"bleu", 25, true}}, true);
  }
  write_file(file, read_file(file) + "{\"step\": 31, \"lo");  // a kill
  const TrainingHistory history = read_training_log(file);
  ASSERT_EQ(history.steps.size(), 2u);
  EXPECT_EQ(history.steps[1].step, 20);
  EXPECT_EQ(history.steps[1].epoch, 1);
  EXPECT_EQ(history.steps[1].loss, 3.5);
  EXPECT_EQ(history.steps[1].words, 300);
  EXPECT_DOUBLE_EQ(history.words_per_second(), 400.0 / (2 + 3));
  ASSERT_EQ(history.scores.size(), 2u);
  EXPECT_EQ(history.scores[0].values, (std::map<std::string, double>{{"bleu", 12.5}, {"cross-entropy", 3}}));
  EXPECT_DOUBLE_EQ(history.scores[0].seconds, 3.5);  // half way between the lines
  EXPECT_DOUBLE_EQ(history.scores[1].seconds, 8);    // as far beyond the last as the steps before went
}

TEST(TrainingLog, TextInsteadOfANumberIsNamed) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "train.jsonl";
  write_file(file, "{\"step\":3,\"loss\":1}\n{\"step\":\"six\",\"loss\":1}\n");
  EXPECT_EQ(message_of([&] { read_training_log(file); }),
            file.string() + ":2: the field step must be a whole number, not string");
  EXPECT_EQ(message_of([&] { TrainingLog(file, 3, 10, silent()); }),
            file.string() + ":2: the field step must be a whole number, not string");
  write_file(file, "{\"step\":3,\"loss\":\"low\"}\n");
  EXPECT_EQ(message_of([&] { read_training_log(file); }),
            file.string() + ":1: the field loss must be a number, not string");
}

TEST(TrainingLog, WithoutLinesThereIsNoSpeed) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "train.jsonl";
  write_file(file, "{\"step\":3,\"epoch\":0,\"scores\":{\"bleu\":1},\"best\":true}\n");
  const TrainingHistory history = read_training_log(file);
  EXPECT_EQ(history.words_per_second(), 0);
  ASSERT_EQ(history.scores.size(), 1u);
  EXPECT_EQ(history.scores[0].seconds, 0);
}

}  // namespace
}  // namespace heed
