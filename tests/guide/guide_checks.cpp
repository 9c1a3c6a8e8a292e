#include <gtest/gtest.h>

#include <algorithm>

#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"
#include "heed/base/file.h"
#include "heed/jobs/runner.h"
#include "heed/jobs/training.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

// What CONTRIBUTING.md promises of the file it shows.
TEST(Guide, TheMechanismIsFoundByItself) {
  EXPECT_EQ(mechanism_named("content-addressing").options.score, "cosine");
  EXPECT_NE(describe_attentions().find("content-addressing"), std::string::npos);
}

TEST(Guide, ScalingAKeyChangesNothing) {
  Parameters parameters;
  AttentionOptions options = mechanism_named("content-addressing").options;
  options.query_width = options.key_width = options.value_width = 2;
  const Attention attention(Scope(parameters), options);
  const auto weight_of_first = [&](Real factor) {
    const Tensor keys(Shape{1, 2, 2}, {factor * 3, factor * 4, 1, -2});
    Query query;
    query.vectors = Tensor(Shape{1, 1, 2}, {2, 1});
    return attention(query, attention.memory(keys, keys)).weights.value().at({0, 0, 0, 0});
  };
  EXPECT_NEAR(weight_of_first(1), weight_of_first(100), 1e-6);
}

TEST(Guide, TheJobIsFoundTrainedAndRun) {
  ASSERT_EQ(job_of_verb("sift"), &job_named("spam"));
  const std::vector<const System*> systems = systems_of(job_named("spam"));  // others read a text and give a label too
  ASSERT_EQ(std::count(systems.begin(), systems.end(), &system_named("mean-vector")), 1);
  const TemporaryFolder folder;
  const std::string data = (folder.path() / "messages.tsv").string();
  write_file(data, "good\tlunch at noon\nbad\twin money now\ngood\tsee you at lunch\nbad\tmoney for you now\n");
  train_model(plan_training({{"model", "mean-vector", ""},
                             {"data", data, ""},
                             {"valid", data, ""},
                             {"output", (folder.path() / "sieve").string(), ""},
                             {"steps", "200", ""},
                             {"validate-every", "100u", ""},
                             {"learning-rate", "0.05", ""},
                             {"shards", "1", ""},
                             {"threads", "1", ""}}),
              false, [](const std::string&) {});
  Runner runner({folder.path() / "sieve"}, 1, [](const std::string& line) { ADD_FAILURE() << line; });
  const std::vector<Sample> samples{sample_of({"win money"}), sample_of({"lunch at noon"})};
  const auto answers = runner.run(samples);
  EXPECT_EQ(answers[0].front().text, "bad");
  EXPECT_EQ(answers[1].front().text, "good");
  const Trace trace = runner.explain(samples).front();
  EXPECT_EQ(trace.rows, "label");
  EXPECT_EQ(trace.columns, "message");
  EXPECT_NEAR(static_cast<double>(trace.alignment.at({0, 0})), 1.0 / 3, 1e-6);  // two words and the end
}

}  // namespace
}  // namespace heed
