#include "heed/jobs/variant.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/attention/parts.h"
#include "heed/data/words.h"
#include "heed/jobs/runner.h"
#include "heed/jobs/training_options.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

Bundle make_tiny(const std::vector<GivenOption>& settings) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "words").string();
  std::ofstream(file) << "a b c\n";
  const std::shared_ptr<const Vocabulary> words = train_words(std::vector{file}, {});
  TrainingPlan plan = plan_training(settings);
  return make_bundle(plan.training.declared_job(), system_named(plan.training.model), std::move(plan.config),
                     {{words}, words, {}}, {0}, 3);
}
Bundle make_tiny_rnnsearch() {
  return make_tiny({{"model", "rnnsearch", ""}, {"embedding", "8", ""}, {"hidden", "8", ""}, {"maxout", "4", ""}});
}
Bundle make_tiny_transformer() {
  return make_tiny({{"model", "transformer", ""},
                    {"width", "8", ""},
                    {"feed-forward", "8", ""},
                    {"heads", "2", ""},
                    {"layers", "1", ""},
                    {"decoder-layers", "2", ""}});
}

TEST(AttentionOf, NamesTheComposition) {
  EXPECT_EQ(attention_of(make_tiny_rnnsearch()), "additive × global × softmax");
  EXPECT_EQ(attention_of(make_tiny_transformer()), "");
}

TEST(Normaliser, IsExchangedUnderTheSameWeights) {
  Bundle model = make_tiny_rnnsearch();
  model.example = {"a b"}, model.languages = {"en", "de"};
  const std::shared_ptr<const Bundle> sparse = with_normaliser(model, "sparsemax");
  EXPECT_EQ(attention_of(*sparse), "additive × global × sparsemax");
  EXPECT_EQ(sparse->languages, model.languages);
  EXPECT_EQ(sparse->example, model.example);
  ASSERT_EQ(sparse->parameters->count(), model.parameters->count());
  for (const Parameters::Entry& entry : sparse->parameters->entries()) {
    const Tensor& ours = entry.var.value();
    const Tensor& theirs = model.parameters->at(entry.name).value();
    EXPECT_TRUE(std::equal(ours.data(), ours.data() + ours.size(), theirs.data())) << entry.name;
  }
  EXPECT_EQ(message_of([&] { with_normaliser(model, "sparsmax"); }),
            "there is no normaliser sparsmax; did you mean sparsemax?");
  EXPECT_EQ(message_of([] { with_normaliser(make_tiny_transformer(), "sparsemax"); }),
            "transformer has no normaliser that can be exchanged");
}

TEST(Normaliser, OthersAreAllThatFit) {
  const Bundle model = make_tiny_rnnsearch();
  const std::vector<std::string> others = other_normalisers(model);
  for (const PartEntry<Normaliser>& entry : RegisterNormaliser::entries()) {
    const bool listed = std::find(others.begin(), others.end(), entry.name) != others.end();
    EXPECT_EQ(listed, entry.name != "softmax") << entry.name;  // none of them has parameters
    if (listed) {
      EXPECT_EQ(with_normaliser(model, entry.name)->parameters->count(), model.parameters->count());
    }
  }
  EXPECT_TRUE(other_normalisers(make_tiny_transformer()).empty());
}

}  // namespace
}  // namespace heed
