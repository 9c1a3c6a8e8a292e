#include "heed/jobs/given_model.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/jobs/training.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

// A model that was trained on one file and goes on with another.
class GivenModel : public testing::Test {
 protected:
  GivenModel() {
    write_file(file("first.tsv"), "good\ta fine day\nbad\ta dull day\ngood\tfine words\nbad\tdull words\n");
    write_file(file("second.tsv"), "bad\tdull rain\nbad\ta dull song\n");
    train({{"model", "bag", "--model"}, {"data", file("first.tsv"), "--data"}, {"embedding", "6", "--embedding"}},
          "first", "20");
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  TrainingPlan plan(std::vector<GivenOption> given, const std::string& output, const std::string& steps) const {
    for (const auto& [name, text] :
         {std::pair{"output", file(output)}, {"steps", steps}, {"buckets", "64"}, {"shards", "1"}, {"threads", "1"}})
      given.push_back({name, text, std::string("--") + name});
    return plan_training(given);
  }
  void train(std::vector<GivenOption> given, const std::string& output, const std::string& steps) {
    train_model(plan(std::move(given), output, steps), false,
                [this](const std::string& line) { said_ += line + "\n"; });
  }
  GivenOption from(const std::string& name) const { return {"from", file(name), "--from"}; }
  GivenOption data(const std::string& name) const { return {"data", file(name), "--data"}; }
  Bundle model(const std::string& name) const { return load_bundle(ModelFolder(file(name)), FolderWeights::trained); }
  // The largest difference of a weight.
  double between(const std::string& a, const std::string& b) const {
    const Bundle first = model(a), second = model(b);
    double largest = 0;
    for (const Parameters::Entry& each : first.parameters->entries()) {
      const Tensor x = each.var.value().contiguous(), y = second.parameters->at(each.name).value().contiguous();
      for (Index i = 0; i < x.size(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(x.data()[i]) - static_cast<double>(y.data()[i])));
    }
    return largest;
  }
  TemporaryFolder folder_;
  std::string said_;
};

TEST_F(GivenModel, GivesWeightsVocabularyLabelsAndSizes) {
  train({from("first"), data("second.tsv"), {"learning-rate", "0", ""}, {"schedule", "constant", ""}}, "still", "3");
  EXPECT_NE(said_.find("beginning with the weights of " + file("first")), std::string::npos);
  EXPECT_EQ(between("first", "still"), 0);
  const Bundle first = model("first"), still = model("still");
  EXPECT_EQ(still.system->name, "bag");
  EXPECT_EQ(still.codes.labels, (std::vector<std::string>{"bad", "good"}));  // the second file has one
  EXPECT_EQ(still.codes.inputs[0]->serialized(), first.codes.inputs[0]->serialized());
  train({from("first"), data("second.tsv")}, "moved", "3");
  EXPECT_GT(between("first", "moved"), 1e-4);
  EXPECT_LT(between("first", "moved"), 0.1);
}

// A training that was killed before it saved anything begins with the same weights again.
TEST_F(GivenModel, IsThereAgainWithoutACheckpoint) {
  const std::vector<GivenOption> options{from("first"), data("second.tsv")};
  train(options, "whole", "3");
  train(options, "killed", "3");
  const ModelFolder killed(file("killed"));
  for (const std::filesystem::path& saved :
       {killed.checkpoint(), killed.weights(), killed.log(), killed.path() / "digests.json"})
    std::filesystem::remove(saved);
  resume_training(training_of_folder(killed.path()), [](const std::string&) {});
  EXPECT_EQ(between("whole", "killed"), 0);
}

TEST_F(GivenModel, SaysWhatDoesNotFit) {
  const auto message = [&](std::vector<GivenOption> given) {
    given.push_back(data("second.tsv"));
    return test::message_of([&] { train(given, "other", "1"); });
  };
  EXPECT_EQ(message({from("first"), {"model", "han", "--model"}}),
            "--model: han is asked for, but the model of --from " + file("first") + " has bag");
  EXPECT_EQ(message({from("first"), {"job", "entailment", "--job"}}),
            "--job: entailment is asked for, but the model of --from " + file("first") + " has classification");
  EXPECT_EQ(message({from("first"), {"preset", "paper", "--preset"}}),
            "--preset: paper is asked for, but the model of --from " + file("first") + " has small");
  EXPECT_NE(message({from("first"), {"embedding", "7", "--embedding"}}).find("but the model's is"), std::string::npos);
  EXPECT_EQ(message({from("first"), {"vectors", file("second.tsv"), "--vectors"}}),
            "--vectors: the model of --from brings its own");
  EXPECT_NE(message({from("none")}).find(file("none")), std::string::npos);
  EXPECT_FALSE(is_model_folder(file("other")));
  write_file(file("second.tsv"), "dreadful\tdull rain\n");
  EXPECT_NE(message({from("first")}).find("the model has no label dreadful"), std::string::npos);
  EXPECT_FALSE(is_model_folder(file("other")));
}

}  // namespace
}  // namespace heed
