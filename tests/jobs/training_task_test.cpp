#include "heed/jobs/training_task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "heed/base/file.h"
#include "heed/jobs/runner.h"
#include "support/messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

class JobTaskTest : public testing::Test {
 protected:
  JobTaskTest() : training_(job_named("translation")), bundle_(test::make_tiny(tiny_)) {
    put("s", test::kFiveSources);
    put("t", test::kFiveTargets);
    put("links", "0-0 1-1 2-2\n0-0 1-1\n0-0 1-1 2-2\n0-0\n0-0 1-1\n");
    training_.sides[0].files = training_.sides[0].valid = file("s");
    training_.sides[1].files = training_.sides[1].valid = file("t");
    training_.threads = 1;
  }
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  void put(const char* name, const char* text) const { write_file(file(name), text); }
  std::filesystem::path model() const { return test::make_tiny_folder(folder_.path() / "model", tiny_); }
  static double loss_in(const JobTask& task, Index shards) {
    double total = 0;
    for (Index shard = 0; shard < shards; ++shard) {
      Random random(5);
      const Var loss = task.loss(shard, shards, random);
      if (loss) total += static_cast<double>(loss.value().item());
    }
    return total;
  }

  const test::TinyBundle tiny_{
      .system = "transformer", .texts = {test::kFiveSources, test::kFiveTargets}, .deviation = 0, .seed = 1};
  TemporaryFolder folder_;
  Training training_;
  Bundle bundle_;
};

TEST_F(JobTaskTest, ShardsAddUpToTheBatch) {
  training_.alignments = file("links");
  JobTask task(bundle_, training_);
  const TrainingTask::Batch batch = task.next();
  EXPECT_EQ(batch.epoch, 0);
  EXPECT_EQ(batch.words, 12 + 5);
  const double whole = loss_in(task, 1);
  for (const Index shards : {2, 3, 5, 8}) EXPECT_NEAR(loss_in(task, shards), whole, 1e-4) << shards;
  EXPECT_EQ(task.next().epoch, 1);
}

TEST_F(JobTaskTest, GuidedAlignmentAddsToTheLoss) {
  JobTask plain(bundle_, training_);
  training_.alignments = file("links");
  training_.alignment_weight = 2;
  JobTask guided(bundle_, training_);
  training_.alignment_weight = 1;
  JobTask half(bundle_, training_);
  plain.next(), guided.next(), half.next();
  const double base = loss_in(plain, 1), added = loss_in(guided, 1) - base;
  EXPECT_GT(added, 0);
  EXPECT_NEAR(loss_in(half, 1) - base, added / 2, 1e-3);
}

// -Σ log a over the links, of the alignments that the model itself shows; a word without one is linked with the end.
TEST_F(JobTaskTest, GuidedAlignmentIsOfTheStepsThatTheModelSays) {
  for (const char* reads : {"false", "true"}) {
    test::TinyBundle tiny = tiny_;
    tiny.settings = {{"alignment-reads", reads}, {"dropout", "0"}};
    const Bundle bundle = make_tiny(tiny);
    training_.alignments = "";
    JobTask plain(bundle, training_);
    training_.alignments = file("links");
    training_.alignment_weight = 1;
    JobTask guided(bundle, training_);
    plain.next(), guided.next();
    Runner runner({test::make_tiny_folder(folder_.path() / reads, tiny)}, 1, [](const std::string&) {});
    const std::vector<Sample> samples{sample_of({"a b c"}, {"x y z"}), sample_of({"b c"}, {"y z"}),
                                      sample_of({"c a a b"}, {"z x x"}), sample_of({"a"}, {"x"}),
                                      sample_of({"b b"}, {"y y x"})};
    const Index links[] = {3, 2, 3, 1, 2};
    double expected = 0;
    const std::vector<Trace> traces = runner.explain(samples);
    for (std::size_t i = 0; i < samples.size(); ++i)
      for (Index t = 0; t < links[i]; ++t) expected -= std::log(static_cast<double>(traces[i].alignment.at({t, t})));
    EXPECT_NEAR(loss_in(guided, 1) - loss_in(plain, 1), expected, 1e-4) << reads;

    Training to_end = training_;
    to_end.alignment_end = true;
    JobTask ends(bundle, to_end);
    ends.next();
    expected -= std::log(static_cast<double>(traces[4].alignment.at({2, 2})));  // "x", the third word for "b b"
    EXPECT_NEAR(loss_in(ends, 1) - loss_in(plain, 1), expected, 1e-4) << reads;
  }
}

TEST_F(JobTaskTest, ValidationIsTheMeanOverWordsAndWhatScoringSays) {
  training_.metrics = "cross-entropy,perplexity,bleu,chrf";
  JobTask task(bundle_, training_);
  const std::vector<ValidationScore> scores = task.validate();
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_NEAR(scores[1].value, std::exp(scores[0].value), 1e-9);
  EXPECT_TRUE(scores[2].higher_is_better);
  Runner runner({model()}, 1, [](const std::string&) {});
  const std::vector<Sample> samples{sample_of({"a b c"}, {"x y z"}), sample_of({"b c"}, {"y z"}),
                                    sample_of({"c a a b"}, {"z x x"}), sample_of({"a"}, {"x"}),
                                    sample_of({"b b"}, {"y y x"})};
  double total = 0;
  Index words = 0;
  for (const SampleScore& score : runner.score(samples)) total -= score.log_probability, words += score.words;
  EXPECT_EQ(words, 17);
  EXPECT_NEAR(total / static_cast<double>(words), scores[0].value, 1e-5);
}

TEST_F(JobTaskTest, ReportsWhatWasFoundAndChoosesAnExample) {
  put("s", "a b c\n\nc a a b b\n");
  put("t", "x y z\ny z\nz x x\n");
  JobTask task(bundle_, training_);
  EXPECT_EQ(task.training_report().read, 3);
  EXPECT_EQ(task.training_report().kept, 2);
  EXPECT_EQ(task.validation_report().kept, 2);
  EXPECT_EQ(task.example(), (std::vector<std::string>{"c a a b b"}));  // the first that is not very short
  training_.sides[0].valid = training_.sides[1].valid = "";
  JobTask without(bundle_, training_);
  EXPECT_TRUE(without.example().empty());
  EXPECT_TRUE(without.validate().empty());
}

TEST_F(JobTaskTest, GoesOnWhereItStood) {
  training_.batch_words = 8;
  JobTask task(bundle_, training_), other(bundle_, training_);
  for (int i = 0; i < 3; ++i) task.next();
  other.seek(task.position());
  for (int i = 0; i < 6; ++i) {
    const TrainingTask::Batch expected = task.next(), found = other.next();
    EXPECT_EQ(found.epoch, expected.epoch);
    EXPECT_EQ(found.words, expected.words);
    EXPECT_EQ(loss_in(other, 1), loss_in(task, 1));
  }
}

// The baseline of hard attention moves from batch to batch, and a training that goes on has it.
TEST_F(JobTaskTest, ABaselineMovesWithTheRewards) {
  const test::TinyBundle hard{.system = "rnnsearch",
                              .settings = {{"normaliser", "hard"}, {"soft-mixing", "0"}, {"dropout", "0"}},
                              .texts = {test::kFiveSources, test::kFiveTargets}};
  const Bundle bundle = test::make_tiny(hard);
  training_.batch_words = 8;
  const auto baseline_after = [](JobTask& task) {
    task.next();
    loss_in(task, 1);
    return task.position().number("baseline", "test");
  };
  JobTask task(bundle, training_), second(bundle, training_), other(bundle, training_);
  EXPECT_EQ(task.position().numbers.size(), 2u);  // no rewards yet
  const double first = baseline_after(task);      // the mean log-probability of a word
  EXPECT_LT(first, 0);
  EXPECT_GT(first, -10);
  TrainingState between = task.position();
  between.numbers.pop_back();  // as if the second batch were the first
  second.seek(between);
  const double alone = baseline_after(second);
  EXPECT_NE(alone, first);
  const double moved = baseline_after(task);
  EXPECT_NEAR(moved, 0.9 * first + 0.1 * alone, 1e-9);
  other.seek(task.position());
  EXPECT_EQ(other.position().number("baseline", "test"), moved);
  EXPECT_EQ(baseline_after(other), baseline_after(task));
  JobTask unsampled(bundle_, training_);
  unsampled.next();
  loss_in(unsampled, 1);
  EXPECT_EQ(unsampled.position().numbers.size(), 2u);
}

// Training passes over such lines and counts them; a validation of wrong pairs would say nothing.
TEST_F(JobTaskTest, FilesOfUnequalLengthAreRefusedUnlessAllowed) {
  put("short", "x y\n");
  const std::string refusal =
      file("s") + ":2: the file beside it has fewer lines; 4 of 5 have no partner (--allow-bad-lines leaves them out)";
  const auto message = [&] { return test::message_of([&] { const JobTask task(bundle_, training_); }); };
  const std::string whole = std::exchange(training_.sides[1].files, file("short"));
  EXPECT_EQ(message(), refusal);
  training_.allow_bad_lines = true;
  EXPECT_EQ(JobTask(bundle_, training_).training_report().kept, 1);
  training_.allow_bad_lines = false;
  training_.sides[1].files = whole;
  training_.sides[1].valid = file("short");
  EXPECT_EQ(message(), refusal);
}

}  // namespace
}  // namespace heed
