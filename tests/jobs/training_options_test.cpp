#include "heed/jobs/translation_options.h"

#include <gtest/gtest.h>

#include <set>

#include "support/messages.h"

namespace heed {
namespace {

using test::message_of;

GivenOption flag(const std::string& name, const std::string& text) { return {name, text, "--" + name}; }

// A name that meant two things would set only one of them.
TEST(TranslationOptions, NoModelNamesAnOptionLikeTheTraining) {
  TranslationTraining training;
  std::set<std::string> taken{"config", "dump-config", "resume", "force", "help"};
  for (const FieldDescription& field : describe_fields([&](Fields& f) { training.visit(f); }))
    EXPECT_TRUE(taken.insert(flag_name(field.name)).second) << field.name;
  for (const auto& [marian, ours] : marian_names()) {
    EXPECT_TRUE(taken.count(ours)) << ours;
    EXPECT_TRUE(taken.insert(marian).second) << marian;
  }
  for (const System& system : systems()) {
    const auto config = system.config("small");
    for (const FieldDescription& field : describe_fields([&](Fields& f) { config->visit(f); }))
      EXPECT_FALSE(taken.count(flag_name(field.name))) << system.name << " " << field.name;
  }
}

TEST(TranslationOptions, LaterOnesWinAndMariansNamesAreUnderstood) {
  TranslationPlan plan =
      plan_translation({flag("model", "transformer"), flag("epochs", "3"), flag("width", "64"),
                        flag("after-epochs", "5"), flag("train-sets", "a.en b.de"), flag("label_smoothing", "0.25")});
  EXPECT_EQ(plan.training.epochs, 5);
  EXPECT_EQ(plan.training.source, "a.en");
  EXPECT_EQ(plan.training.target, "b.de");
  EXPECT_EQ(plan.training.label_smoothing, 0.25);
  std::string width;
  for (const FieldDescription& field : describe_fields([&](Fields& f) { plan.visit(f); }))
    if (field.name == "width") width = field.value;
  EXPECT_EQ(width, "64");
}

TEST(TranslationOptions, SaysWhatIsWrong) {
  EXPECT_EQ(message_of([] { plan_translation({flag("model", "transfomer")}); }),
            "[model] there is no model transfomer; did you mean transformer?");
  EXPECT_EQ(message_of([] { plan_translation({flag("preset", "smal")}); }),
            "--preset: smal is not known; did you mean small?");
  EXPECT_EQ(message_of([] { plan_translation({flag("epoch", "3")}); }),
            "--epoch: there is no option epoch for transformer; did you mean epochs?");
  EXPECT_EQ(message_of([] { plan_translation({flag("epochs", "3.5")}); }),
            "--epochs: epochs must be a whole number, not '3.5'");
  EXPECT_EQ(message_of([] { plan_translation({flag("vocabs", "one")}); }),
            "--vocabs: needs two values, of source and target, not 1");
  EXPECT_EQ(plan_translation({flag("dim-vocabs", "900 900")}).training.vocabulary_size, 900);
  EXPECT_EQ(message_of([] { plan_translation({flag("dim-vocabs", "900 800")}); }),
            "--dim-vocabs: vocabulary-size is one for both sides, not 900 and 800");
  TranslationTraining training;
  training.model = "transformer";
  EXPECT_EQ(message_of([&] { change_training(training, {flag("model", "luong")}); }),
            "--resume: this is a transformer of preset small, which cannot change; train into another folder");
}

TEST(TranslationOptions, Every) {
  EXPECT_EQ(parse_every("500", "x").steps, 500);
  EXPECT_EQ(parse_every("500u", "x").steps, 500);
  EXPECT_EQ(parse_every("2e", "x").epochs, 2);
  EXPECT_EQ(parse_every("0", "x").steps, 0);
  for (const char* wrong : {"", "e", "5m", "-1", "1.5e"})
    EXPECT_EQ(message_of([&] { parse_every(wrong, "--save-every"); }),
              fmt::format("--save-every: expected a number of updates (500u) or of epochs (1e), not '{}'", wrong));
}

}  // namespace
}  // namespace heed
