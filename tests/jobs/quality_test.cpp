#include "heed/jobs/translation_test_set.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/file.h"
#include "heed/data/words.h"
#include "heed/jobs/translation_options.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

class TranslationTestSetTest : public testing::Test {
 protected:
  TranslationTestSetTest() {
    put("s", "a b c\nb c\nc a a b\n");
    put("t", "x y z\ny z\nz x x\n");
    put("links", "0-0 1-1 2-2\n0-0 1-1\n0-0 1?1\n");
  }
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  void put(const char* name, const char* text) const { write_file(folder_.path() / name, text); }
  // A model with the weights it was born with, in a folder.
  std::filesystem::path model(const std::string& name) const {
    TranslationPlan plan =
        plan_translation({{"model", name, ""}, {"embedding", "8", ""}, {"hidden", "8", ""}, {"tied", "false", ""}});
    const TranslationBundle bundle =
        make_translation(name, std::move(plan.config), train_words({file("s")}, {}), train_words({file("t")}, {}), 3);
    const ModelFolder made = create_translation_folder(folder_.path() / name, bundle, {}, false);
    made.save_weights(*bundle.parameters);
    return made.path();
  }
  static Translator translator(const std::filesystem::path& model) {
    return {{model}, {.threads = 1}, [](const std::string&) {}};
  }

  TemporaryFolder folder_;
};

TEST_F(TranslationTestSetTest, ReadsLinesAndLinks) {
  const TranslationTestSet test = read_test_set(file("s"), file("t"), file("links"));
  EXPECT_EQ(test.sources, (std::vector<std::string>{"a b c", "b c", "c a a b"}));
  EXPECT_EQ(test.references.back(), "z x x");
  ASSERT_EQ(test.gold.size(), 3u);
  EXPECT_EQ(test.gold[2].sure.size(), 1u);
  EXPECT_EQ(test.gold[2].possible.size(), 2u);
  EXPECT_TRUE(read_test_set(file("s"), file("t"), "").gold.empty());
}

TEST_F(TranslationTestSetTest, SaysWhatDoesNotFit) {
  put("short", "x\n");
  put("nothing", "");
  put("wrong", "0-0\n0-0\n0:0\n");
  const auto message = [this](const char* target, const char* gold) {
    return test::message_of([&] { read_test_set(file("s"), file(target), *gold ? file(gold) : ""); });
  };
  EXPECT_EQ(message("short", ""), file("short") + ": it has 1 lines, but " + file("s") + " has 3");
  EXPECT_EQ(message("t", "short"), file("short") + ": it has 1 lines, but " + file("s") + " has 3");
  EXPECT_EQ(message("nothing", ""), file("nothing") + ": it is empty");
  EXPECT_EQ(message("t", "wrong").find(file("wrong") + ", line 3: "), 0u);
}

TEST_F(TranslationTestSetTest, EntropyCountsTheEndAsAPlace) {
  const WordAlignment alignment{{"a", "b"}, {"x", "y", "z"}, Tensor(Shape{3, 2}, {1, 0, 0.5, 0.5, 0.25, 0.25})};
  // Certain; one of two; and of the last word half lies on the end.
  const double expected = (0 + std::log(2.0) + 1.5 * std::log(2.0)) / 3;
  EXPECT_NEAR(alignment_entropy(alignment), expected, 1e-6);
}

TEST_F(TranslationTestSetTest, AlignmentOfWhatWasTranslatedIsThatOfTheSearch) {
  for (const char* name : {"rnnsearch", "luong"}) {
    Translator of_model = translator(model(name));
    const TranslationTestSet test = read_test_set(file("s"), file("t"), "");
    const auto found = of_model.translate(test.sources);
    std::vector<std::string> texts;
    for (const auto& best : found) texts.push_back(best.front().text);
    const auto read = of_model.align(test.sources, texts);
    for (std::size_t i = 0; i < read.size(); ++i) {
      ASSERT_TRUE(read[i] && found[i].front().alignment) << name;
      const WordAlignment &ours = *read[i], &searched = *found[i].front().alignment;
      ASSERT_EQ(ours.source, searched.source);
      ASSERT_EQ(ours.target, searched.target) << name << ", line " << i;
      for (Index t = 0; t < ours.weights.size(0); ++t)
        for (Index s = 0; s < ours.weights.size(1); ++s)
          EXPECT_NEAR(ours.weights.at({t, s}), searched.weights.at({t, s}), 1e-5) << name << ", line " << i;
    }
  }
}

TEST_F(TranslationTestSetTest, MeasuresAttentionOnlyWhereThereIsSome) {
  const TranslationTestSet test = read_test_set(file("s"), file("t"), file("links"));
  Translator attending = translator(model("rnnsearch")), other = translator(model("seq2seq-lstm"));
  const TranslationQuality quality = measure_translation(attending, test);
  ASSERT_TRUE(quality.alignment && quality.entropy);
  AlignmentCounts counts;
  const auto read = attending.align(test.sources, test.references);
  for (std::size_t i = 0; i < read.size(); ++i)
    counts += compare_alignment(parse_alignment(hard_alignment(*read[i])), test.gold[i]);
  EXPECT_DOUBLE_EQ(quality.alignment->error_rate(), counts.error_rate());
  EXPECT_EQ(quality.translations.size(), 3u);
  // Weights near their beginning spread the probability evenly: three words, unknown, begin and end.
  EXPECT_NEAR(quality.cross_entropy, std::log(6.0), 0.2);
  EXPECT_FALSE(measure_translation(other, test).entropy);
  EXPECT_FALSE(measure_translation(other, test).alignment);
}

}  // namespace
}  // namespace heed
