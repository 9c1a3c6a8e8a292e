#include "heed/jobs/translation_task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "heed/data/words.h"
#include "heed/jobs/translator.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

class TranslationTaskTest : public testing::Test {
 protected:
  TranslationTaskTest() {
    put("s", "a b c\nb c\nc a a b\na\nb b\n");
    put("t", "x y z\ny z\nz x x\nx\ny y x\n");
    put("links", "0-0 1-1 2-2\n0-0 1-1\n0-0 1-1 2-2\n0-0\n0-0 1-1\n");
    plan_ = plan_translation({{"model", "transformer", ""},
                              {"width", "16", ""},
                              {"feed-forward", "16", ""},
                              {"heads", "2", ""},
                              {"layers", "1", ""},
                              {"decoder-layers", "1", ""},
                              {"dropout", "0", ""}});
    TranslationTraining& training = plan_.training;
    training.source = training.valid_source = file("s");
    training.target = training.valid_target = file("t");
    training.threads = 1;
    bundle_ = make_translation("transformer", std::move(plan_.config), train_words({file("s")}, {}),
                               train_words({file("t")}, {}), 1);
  }
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  void put(const char* name, const char* text) const { std::ofstream(folder_.path() / name) << text; }
  double loss_in(const TranslationTask& task, Index shards) const {
    double total = 0;
    for (Index shard = 0; shard < shards; ++shard) {
      Random random(5);
      const Var loss = task.loss(shard, shards, random);
      if (loss) total += static_cast<double>(loss.value().item());
    }
    return total;
  }

  TemporaryFolder folder_;
  TranslationPlan plan_;
  TranslationBundle bundle_;
};

TEST_F(TranslationTaskTest, ShardsAddUpToTheBatch) {
  plan_.training.alignments = file("links");
  TranslationTask task(bundle_, plan_.training);
  const TrainingTask::Batch batch = task.next();
  EXPECT_EQ(batch.epoch, 0);
  EXPECT_EQ(batch.words, 12 + 5);
  const double whole = loss_in(task, 1);
  for (const Index shards : {2, 3, 5, 8}) EXPECT_NEAR(loss_in(task, shards), whole, 1e-4) << shards;
  EXPECT_EQ(task.next().epoch, 1);
}

TEST_F(TranslationTaskTest, GuidedAlignmentAddsToTheLoss) {
  TranslationTask plain(bundle_, plan_.training);
  plan_.training.alignments = file("links");
  plan_.training.alignment_weight = 2;
  TranslationTask guided(bundle_, plan_.training);
  plan_.training.alignment_weight = 1;
  TranslationTask half(bundle_, plan_.training);
  plain.next(), guided.next(), half.next();
  const double base = loss_in(plain, 1), added = loss_in(guided, 1) - base;
  EXPECT_GT(added, 0);
  EXPECT_NEAR(loss_in(half, 1) - base, added / 2, 1e-3);
}

TEST_F(TranslationTaskTest, ValidationIsTheMeanOverWordsAndWhatScoringSays) {
  plan_.training.metrics = "cross-entropy,perplexity,bleu,chrf";
  TranslationTask task(bundle_, plan_.training);
  const std::vector<ValidationScore> scores = task.validate();
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_NEAR(scores[1].value, std::exp(scores[0].value), 1e-9);
  EXPECT_TRUE(scores[2].higher_is_better);
  create_translation_folder(folder_.path() / "model", bundle_, {}, false).save_weights(*bundle_.parameters);
  Translator translator({folder_.path() / "model"}, {}, [](const std::string&) {});
  const std::vector<std::string> sources{"a b c", "b c", "c a a b", "a", "b b"};
  const std::vector<std::string> targets{"x y z", "y z", "z x x", "x", "y y x"};
  double total = 0;
  Index words = 0;
  for (const TranslationScore& score : translator.score(sources, targets))
    total -= score.log_probability, words += score.words;
  EXPECT_EQ(words, 17);
  EXPECT_NEAR(total / static_cast<double>(words), scores[0].value, 1e-5);
}

TEST_F(TranslationTaskTest, TranslationsDoNotDependOnNeighboursOrThreads) {
  create_translation_folder(folder_.path() / "model", bundle_, {}, false).save_weights(*bundle_.parameters);
  const std::vector<std::string> lines{"a b c", "", "b c", "c a a b", "a", "b b"};
  std::vector<std::string> alone;
  for (const int threads : {1, 3}) {
    TranslatorOptions options;
    options.threads = threads;
    options.search.batch_sentences = threads == 1 ? 1 : 4;
    Translator translator({folder_.path() / "model"}, options, [](const std::string&) {});
    const auto results = translator.translate(lines);
    ASSERT_EQ(results.size(), lines.size());
    EXPECT_EQ(results[1].front().text, "");
    std::vector<std::string> texts;
    for (const auto& each : results) texts.push_back(each.front().text);
    if (threads == 1) {
      alone = texts;
    } else {
      EXPECT_EQ(texts, alone);
    }
  }
}

TEST_F(TranslationTaskTest, ValidationFilesOfUnequalLengthAreRefused) {
  put("short", "x y\n");
  plan_.training.valid_target = file("short");
  EXPECT_EQ(test::message_of([&] { TranslationTask(bundle_, plan_.training); }),
            "--valid-target: 1 lines for 5 of --valid-source");
}

}  // namespace
}  // namespace heed
