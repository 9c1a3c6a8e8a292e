#include "heed/jobs/reward_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "heed/base/file.h"
#include "heed/jobs/training_task.h"
#include "heed/train/optimiser.h"
#include "support/messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

using test::message_of;

// A reward that a test makes up; it keeps what it was asked about.
class TestReward final : public TextReward {
 public:
  using Score = std::function<double(const std::string& text)>;
  TestReward(Score score, std::vector<std::string>& asked) : score_(std::move(score)), asked_(asked) {}
  double operator()(const std::string& text, std::span<const std::string>) const override {
    asked_.push_back(text);
    return score_(text);
  }

 private:
  Score score_;
  std::vector<std::string>& asked_;
};

Bundle tiny(const std::string& system, std::map<std::string, std::string> settings = {}) {
  return test::make_tiny({.system = system,
                          .settings = std::move(settings),
                          .texts = {test::kFiveSources, test::kFiveTargets},
                          .deviation = 0,
                          .seed = 1});
}

std::vector<EncodedSample> encoded_samples(const Bundle& bundle) {
  std::vector<EncodedSample> samples;
  for (const auto& [source, target] : {std::pair{"a b c", "x y z"}, {"b c", "y z"}, {"c a a b", "z x x"}}) {
    samples.push_back(bundle.encode({.inputs = {{.text = source}}, .outputs = {target}}));
    samples.back().references = {target};
  }
  return samples;
}

RewardLoss::Result result_of(const RewardLoss& loss, const std::vector<EncodedSample>& samples) {
  Random random(3);
  return loss(batch_of(samples, false).inputs.front(), samples, random, {});
}

double largest(const Gradients& gradients, const Parameters& parameters) {
  double most = 0;
  for (const Parameters::Entry& entry : parameters.entries())
    for (const Real value : gradients.of(entry.var).contiguous().values())
      most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

TEST(RewardLoss, IsMinusTheMeanReward) {
  const Bundle bundle = tiny("rnnsearch");
  const std::vector<EncodedSample> samples = encoded_samples(bundle);
  std::vector<std::string> asked;
  const auto length = [](const std::string& text) { return static_cast<double>(text.size()); };
  const RewardLoss loss(bundle, 4, std::make_unique<TestReward>(length, asked));
  const double value = static_cast<double>(result_of(loss, samples).loss.value().item());
  ASSERT_EQ(asked.size(), 12U);
  double total = 0;
  for (const std::string& text : asked) total += static_cast<double>(text.size());
  EXPECT_NEAR(value, -total / 4, 1e-4);
}

// Texts that are all as good as each other teach nothing.
TEST(RewardLoss, EqualRewardsHaveNoGradient) {
  for (const char* system : {"rnnsearch", "transformer"}) {
    const Bundle bundle = tiny(system);
    const std::vector<EncodedSample> samples = encoded_samples(bundle);
    std::vector<std::string> asked;
    const auto gradient = [&](const TestReward::Score& score) {
      const RewardLoss loss(bundle, 3, std::make_unique<TestReward>(score, asked));
      return largest(backward(result_of(loss, samples).loss), *bundle.parameters);
    };
    EXPECT_EQ(gradient([](const std::string&) { return 2.5; }), 0) << system;
    EXPECT_GT(gradient([](const std::string& text) { return static_cast<double>(text.size()); }), 1e-4) << system;
  }
}

// A word that is never drawn would gain what others lose, and be written in the end.
TEST(RewardLoss, DrawsEveryWordTheUnknownOneToo) {
  const Bundle bundle = tiny("rnnsearch");
  const std::vector<EncodedSample> samples = encoded_samples(bundle);
  std::vector<std::string> asked;
  const RewardLoss loss(bundle, 50, std::make_unique<TestReward>([](const std::string&) { return 1; }, asked));
  result_of(loss, samples);
  ASSERT_EQ(asked.size(), 150U);
  const std::string unknown = bundle.codes.output->decode(std::vector<std::int32_t>{0});
  ASSERT_FALSE(unknown.empty());
  for (const std::string& word : {unknown, std::string("x"), std::string("y"), std::string("z")})
    EXPECT_TRUE(std::ranges::any_of(asked, [&](const std::string& text) { return text.find(word) != text.npos; }))
        << word;
}

TEST(RewardLoss, ComparesAtLeastTwo) {
  const Bundle bundle = tiny("rnnsearch");
  EXPECT_EQ(message_of([&] { RewardLoss(bundle, 1, nullptr); }),
            "[reward] a text is compared with others, so at least 2 are drawn, not 1");
}

class RewardTraining : public testing::Test {
 protected:
  RewardTraining() : training_(job_named("translation")) {
    for (const auto& [name, text] : {std::pair{"s", test::kFiveSources}, {"t", test::kFiveTargets}})
      write_file(file(name), text);
    training_.sides[0].files = file("s");
    training_.sides[1].files = file("t");
    training_.reward = "bleu";
    training_.draws = 8;
    training_.threads = 1;
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  // Five samples, of which the mean loss is given.
  static double loss_at(const JobTask& task, std::uint64_t seed) {
    Random random(seed);
    return static_cast<double>(task.loss(0, 1, random).value().item()) / 5;
  }

  TemporaryFolder folder_;
  Training training_;
};

TEST_F(RewardTraining, FindsWhatTheMetricLikes) {
  const Bundle bundle = tiny("rnnsearch", {{"dropout", "0"}});
  JobTask task(bundle, training_);
  EXPECT_STREQ(task.unit(), "samples");
  Optimiser optimiser(optimiser_named("adam"));
  double first = 0, last = 0;
  constexpr int kSteps = 150, kShown = 10;
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_EQ(task.next().words, 5);
    Random random(static_cast<std::uint64_t>(step));
    const Var loss = task.loss(0, 1, random);
    const double reward = -static_cast<double>(loss.value().item()) / 5;
    if (step < kShown) first += reward / kShown;
    if (step >= kSteps - kShown) last += reward / kShown;
    optimiser.step(*bundle.parameters, backward(loss), Real{0.02F});
  }
  EXPECT_GT(last, first + 0.3) << first;
}

TEST_F(RewardTraining, DependsOnTheSeedAlone) {
  const Bundle bundle = tiny("rnnsearch");
  JobTask task(bundle, training_), again(bundle, training_);
  task.next(), again.next();
  EXPECT_EQ(loss_at(task, 1), loss_at(again, 1));
  EXPECT_NE(loss_at(task, 1), loss_at(task, 2));
}

TEST_F(RewardTraining, WrongOptionsAreErrors) {
  training_.output = "model";
  training_.steps = 1;
  const auto message = [this] { return message_of([this] { check_training(training_); }); };
  EXPECT_NO_THROW(check_training(training_));
  training_.reward = "blue";
  EXPECT_EQ(message(), "--reward: blue is not known; did you mean bleu?");
  training_.reward = "bleu", training_.draws = 1;
  EXPECT_EQ(message(), "--draws: a text is compared with others, so at least 2 are drawn, not 1");
  training_.draws = 2, training_.alignments = file("s");
  EXPECT_EQ(message(), "--reward: texts that are drawn have no alignments to be guided by");
}

}  // namespace
}  // namespace heed
