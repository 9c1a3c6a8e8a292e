#include "heed/jobs/given_model.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/data/corpora/scenes.h"
#include "heed/jobs/runner.h"
#include "heed/jobs/training.h"
#include "heed/models/eye_encoder.h"
#include "heed/store/safetensors.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

// Trainings one after the other.
class GivenTrainings : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  TrainingPlan plan(std::vector<GivenOption> given, const std::string& output, const std::string& steps) const {
    for (const auto& [name, text] :
         {std::pair{"output", file(output)}, {"steps", steps}, {"shards", "1"}, {"threads", "1"}})
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

// A model that was trained on one file and goes on with another.
class GivenModel : public GivenTrainings {
 protected:
  GivenModel() {
    write_file(file("first.tsv"), "good\ta fine day\nbad\ta dull day\ngood\tfine words\nbad\tdull words\n");
    write_file(file("second.tsv"), "bad\tdull rain\nbad\ta dull song\n");
    train({{"model", "bag", "--model"}, data("first.tsv"), {"embedding", "6", "--embedding"}, {"buckets", "64", ""}},
          "first", "20");
  }
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

// A captioner whose encoder was frozen, and one that begins with it and trains the encoder too.
class GivenEncoder : public GivenTrainings {
 protected:
  GivenEncoder() {
    write_scenes({.folder = folder_.path() / "scenes", .scenes = 12});
    save_safetensors(file("stem.safetensors"), folded_tensors(encoder_, stem()));
    train({{"model", "show-attend-tell", ""},
           {"data", file("scenes/train.tsv"), ""},
           {"encoder", encoder_.name, ""},
           {"encoder-layers", "stem", ""},
           {"encoder-weights", file("stem.safetensors"), ""},
           {"picture", "16", ""},
           {"embedding", "4", ""},
           {"hidden", "6", ""},
           {"batch-sentences", "4", ""}},
          "frozen", "2");
  }
  EyeWeights stem() const {
    EyeWeights weights{{}, encoder_.colours};
    for (int i = 0; i <= encoder_.point("stem"); ++i) {
      EyeWeights::Layer& known = weights.layers.emplace_back();
      const EyeLayer& layer = encoder_.layers[static_cast<std::size_t>(i)];
      if (!layer.has_weight()) continue;
      known = {Tensor(layer.weight_shape()), Tensor(Shape{layer.out}, Real{0.1F})};
      for (Index at = 0; at < known.weight.size(); ++at)
        known.weight.data()[at] = static_cast<Real>(static_cast<double>(at % 17 - 8) / 40);
    }
    return weights;
  }
  void tune(const std::string& output, const std::string& rate) {
    train({from("frozen"),
           {"data", file("scenes/train.tsv"), ""},
           {"fine-tune", "true", ""},
           {"learning-rate", rate, ""},
           {"schedule", "constant", ""},
           {"batch-sentences", "4", ""}},
          output, "2");
  }
  std::vector<double> log_probabilities(const std::string& name) const {
    std::vector<Sample> samples;
    Samples read({.files = {file("scenes/test.tsv")}}, job_named("captioning").sample_columns());
    for (Sample sample; read.next(sample);) samples.push_back(sample);
    EXPECT_FALSE(samples.empty());
    Runner runner({file(name)}, 1, [](const std::string&) {});
    std::vector<double> found;
    for (const Trace& trace : runner.explain(samples))
      found.insert(found.end(), trace.log_probabilities.begin(), trace.log_probabilities.end());
    return found;
  }
  const Encoder& encoder_ = encoder_named("resnet18");
};

TEST_F(GivenEncoder, BeginsWithWhatTheFrozenOneKnows) {
  tune("tuned", "0");
  EXPECT_NE(said_.find("the encoder is fine-tuned with the model"), std::string::npos);
  EXPECT_EQ(between("frozen", "tuned"), 0);
  const std::vector<double> frozen = log_probabilities("frozen"), tuned = log_probabilities("tuned");
  ASSERT_EQ(frozen.size(), tuned.size());
  for (std::size_t i = 0; i < frozen.size(); ++i) EXPECT_NEAR(frozen[i], tuned[i], 1e-4) << i;
}

TEST_F(GivenEncoder, IsTrainedAndStaysWithTheModel) {
  tune("tuned", "0");
  tune("moved", "0.001");
  const Bundle before = model("tuned"), after = model("moved");
  const std::string weight = "eye." + encoder_.layers.front().name + ".weight";
  const Tensor x = before.parameters->at(weight).value(), y = after.parameters->at(weight).value();
  EXPECT_FALSE(std::equal(x.values().begin(), x.values().end(), y.values().begin()));
  EXPECT_EQ(test::message_of([&] {
              train({from("moved"), data("scenes/train.tsv"), {"fine-tune", "false", ""}}, "other", "1");
            }),
            "--fine-tune: resnet18 of the model of --from was fine-tuned, and cannot be frozen again");
  train({from("moved"), data("scenes/train.tsv"), {"learning-rate", "0", ""}, {"schedule", "constant", ""}}, "still",
        "1");
  EXPECT_EQ(between("moved", "still"), 0);
}

// Pixels of thousands of pictures would fill the memory.
TEST_F(GivenEncoder, LeavesItsPixelsToTheBatches) {
  tune("tuned", "0");
  Samples read({.files = {file("scenes/test.tsv")}}, job_named("captioning").sample_columns());
  Sample sample;
  ASSERT_TRUE(read.next(sample));
  const Bundle frozen = model("frozen"), tuned = model("tuned");
  EXPECT_TRUE(frozen.encode_for_training(sample).inputs[0].features);
  const std::vector<EncodedSample> whole{tuned.encode(sample)}, left{tuned.encode_for_training(sample)};
  EXPECT_FALSE(left[0].inputs[0].features);
  EXPECT_EQ(left[0].inputs[0].length(), 8 * 8);
  EXPECT_EQ(left[0].output, whole[0].output);
  const SampleBatch a = batch_of(whole, false), b = batch_of(left, false);
  ASSERT_EQ(a.inputs[0].features.shape(), (Shape{1, 8 * 8, 2 * 2 * 3}));  // the stem halves the picture
  ASSERT_EQ(b.inputs[0].features.shape(), a.inputs[0].features.shape());
  EXPECT_TRUE(std::ranges::equal(a.inputs[0].features.values(), b.inputs[0].features.values()));
}

TEST_F(GivenEncoder, SaysWhatItDoesNotKnow) {
  const auto message = [&](const std::string& option, const std::string& value) {
    return test::message_of([&] {
      train({from("frozen"), data("scenes/train.tsv"), {option, value, ""}}, "other", "1");
    });
  };
  EXPECT_EQ(message("encoder", "resnet34"), "--encoder: resnet34 is asked for, but the model of --from has resnet18");
  EXPECT_EQ(message("encoder-layers", "layer1"),
            "--encoder-layers: 6 layers of resnet18 are needed, and the model of --from has 1");
}

}  // namespace
}  // namespace heed
