// Training makes a model look at the words that decide: the generated corpora know them.

#include <gtest/gtest.h>

#include "heed/data/corpora/inference.h"
#include "heed/data/corpora/reviews.h"
#include "heed/jobs/quality.h"
#include "heed/jobs/training.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

class GoldWordsTest : public testing::Test {
 protected:
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  void write(std::vector<std::string> columns, std::span<const GoldExample> examples) const {
    write_labelled_corpus(
        {.folder = folder_.path(), .columns = std::move(columns), .valid = 0.02, .test = 0.1, .force = true}, examples);
  }
  // The weight on gold words after so many steps, beside that of the same model before the first that counts.
  GoldShare share_after(const char* steps, std::vector<GivenOption> options) const {
    for (const auto& [name, text] : std::initializer_list<std::pair<const char*, std::string>>{
             {"data", file("train.tsv")},
             {"steps", steps},
             {"validate-every", "0"},
             {"smoothing", "0"},
             {"learning-rate", std::string(steps) == "1" ? "1e-9" : "0.01"},
             {"schedule", "constant"},
             {"embedding", "16"},
             {"dropout", "0"},
             {"embedding-dropout", "0"},
             {"batch-samples", "16"},
             {"threads", "1"},
             {"shards", "1"},
             {"output", file("model")}})
      options.push_back({name, text, name});
    train_model(plan_training(options), true, [](const std::string&) {});
    Runner runner({file("model")}, 1, [](const std::string&) {});
    const TestSet test = read_test_set(runner.job(), {.files = {file("test.tsv")}}, file("test.gold.jsonl"));
    const Quality quality = measure_quality(runner, test);
    EXPECT_TRUE(quality.gold.has_value());
    return quality.gold.value_or(GoldShare{});
  }
  TemporaryFolder folder_;
};

TEST_F(GoldWordsTest, AClassifierLooksAtThemMoreThanItsRandomTwin) {
  write({"document"}, generate_reviews(1500, 1));
  const std::vector<GivenOption> options{{"model", "han", ""}, {"hidden", "8", ""}};
  const GoldShare before = share_after("1", options), after = share_after("300", options);
  EXPECT_GT(after.rows, 100);
  EXPECT_NEAR(before.share, before.uniform, 0.02);
  EXPECT_GT(after.share, 2 * before.share);
}

// Where nothing but the attention knows the premise. The published form passes the premise on in its cell as well, and
// its weights need not look anywhere.
TEST_F(GoldWordsTest, AnEntailmentModelLooksAtThemMoreThanItsRandomTwin) {
  write({"premise", "hypothesis"}, generate_inference_pairs(4000, 1));
  const std::vector<GivenOption> options{
      {"model", "rocktaschel", ""}, {"memory", "words", ""}, {"score", "general", ""}, {"hidden", "32", ""}};
  const GoldShare before = share_after("1", options), after = share_after("1000", options);
  EXPECT_GT(after.rows, 100);
  EXPECT_NEAR(before.share, before.uniform, 0.05);
  EXPECT_GT(after.share, 1.4 * before.share);
}

}  // namespace
}  // namespace heed
