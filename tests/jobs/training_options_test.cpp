#include "heed/jobs/training_options.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

GivenOption flag(const std::string& name, const std::string& text) { return {name, text, "--" + name}; }

std::vector<FieldDescription> fields_of(Training& training) {
  return describe_fields([&](Fields& field) { training.visit(field); });
}

std::string value_of(TrainingPlan& plan, const std::string& name) {
  for (const FieldDescription& field : describe_fields([&](Fields& f) { plan.visit(f); }))
    if (field.name == name) return field.value;
  ADD_FAILURE() << "there is no field " << name;
  return "";
}

// A name that meant two things would set only one of them.
TEST(TrainingOptions, NoModelNamesAnOptionLikeTheTraining) {
  for (const Job& job : jobs()) {
    Training training(job);
    std::set<std::string> taken{"config", "dump-config", "resume", "force", "help"};
    for (const FieldDescription& field : fields_of(training))
      EXPECT_TRUE(taken.insert(flag_name(field.name)).second) << job.name << " " << field.name;
    for (const auto& [other, ours] : other_names()) {
      EXPECT_TRUE(taken.count(ours)) << ours;
      EXPECT_TRUE(taken.insert(other).second) << job.name << " " << other;
    }
    for (const char* all_sides : {"train-sets", "valid-sets", "vocabs", "dim-vocabs"})
      EXPECT_TRUE(taken.insert(all_sides).second) << job.name << " " << all_sides;
    for (const System* system : systems_of(job)) {
      const auto config = system->config("small");
      for (const FieldDescription& field : describe_fields([&](Fields& f) { config->visit(f); }))
        EXPECT_FALSE(taken.count(flag_name(field.name))) << job.name << " " << system->name << " " << field.name;
    }
  }
}

TEST(TrainingOptions, TextsThatAreCutIntoWordsStayAsTheyAreCut) {
  const TemporaryFolder folder;
  const std::string chinese = (folder.path() / "train").string(), other = (folder.path() / "train.tsv").string();
  write_file(chinese, "1 ||| 猫 睡觉\n2 ||| XXXXX 睡觉 ||| 猫\n");
  write_file(other, "cat\tthe cat sleeps .\tthe XXXXX .\n");
  const auto vocabulary = [](std::vector<GivenOption> options) {
    options.push_back(flag("model", "aoa"));
    return plan_training(options).training.vocabulary;
  };
  EXPECT_EQ(vocabulary({flag("data", chinese)}), "words");
  EXPECT_EQ(vocabulary({flag("data", "not-there"), flag("format", "cnn")}), "words");
  EXPECT_EQ(vocabulary({flag("data", chinese), flag("vocabulary", "tokens")}), "tokens");
  EXPECT_EQ(vocabulary({flag("data", other)}), "tokens");
  EXPECT_EQ(vocabulary({flag("data", "not-there")}), "tokens");
}

TEST(TrainingOptions, LaterOnesWinAndMariansNamesAreUnderstood) {
  TrainingPlan plan =
      plan_training({flag("model", "transformer"), flag("epochs", "3"), flag("width", "64"), flag("after-epochs", "5"),
                     flag("train-sets", "a.en b.de"), flag("valid-sets", "v.en v.de"), flag("vocabs", "e.spm d.spm"),
                     flag("label_smoothing", "0.25")});
  EXPECT_EQ(plan.training.epochs, 5);
  const std::vector<Training::Side>& sides = plan.training.sides;
  EXPECT_EQ(sides[0].files, "a.en");
  EXPECT_EQ(sides[1].files, "b.de");
  EXPECT_EQ(sides[0].valid, "v.en");
  EXPECT_EQ(sides[1].valid, "v.de");
  EXPECT_EQ(sides[0].vocabulary, "e.spm");
  EXPECT_EQ(sides[1].vocabulary, "d.spm");
  EXPECT_EQ(plan.training.label_smoothing, 0.25);
  EXPECT_EQ(value_of(plan, "width"), "64");
  EXPECT_EQ(value_of(plan, "source"), "a.en");
}

TEST(TrainingOptions, DefaultsAreTheJobsThenTheSystemsThenTheGiven) {
  TrainingPlan plain = plan_training({});
  EXPECT_EQ(plain.training.job, "translation");
  EXPECT_EQ(plain.training.model, "transformer");
  EXPECT_EQ(plain.training.metrics, "bleu,cross-entropy");
  EXPECT_FALSE(plain.training.joint_vocabulary);
  TrainingPlan plan = plan_training({flag("job", "summarisation")});
  EXPECT_EQ(plan.training.model, "rnnsearch");
  EXPECT_TRUE(plan.training.joint_vocabulary);    // of the job
  EXPECT_EQ(plan.training.longest, 400);          // of the job
  EXPECT_EQ(plan.training.schedule, "plateau");   // of the system
  EXPECT_EQ(plan.training.learning_rate, 0.002);  // of the system
  EXPECT_EQ(plan.training.metrics, "rougeL,cross-entropy");
  TrainingPlan given =
      plan_training({flag("job", "summarisation"), flag("joint-vocabulary", "false"), flag("schedule", "constant")});
  EXPECT_FALSE(given.training.joint_vocabulary);
  EXPECT_EQ(given.training.schedule, "constant");
}

TEST(TrainingOptions, SummarisationReadsATextAndASummary) {
  TrainingPlan plan =
      plan_training({flag("model", "transformer"), flag("job", "summarisation"), flag("text", "a.txt"),
                     flag("summary", "b.txt"), flag("valid-text", "c.txt"), flag("valid-summary", "d.txt")});
  EXPECT_EQ(plan.training.training_files().files, (std::vector<std::string>{"a.txt", "b.txt"}));
  EXPECT_EQ(plan.training.training_files().format, "lines");
  EXPECT_EQ(plan.training.validation_files().files, (std::vector<std::string>{"c.txt", "d.txt"}));
  EXPECT_TRUE(plan.training.validates());
  EXPECT_EQ(value_of(plan, "job"), "summarisation");
  EXPECT_EQ(value_of(plan, "model"), "transformer");
  EXPECT_EQ(message_of([] {
              plan_training({flag("job", "summarisation"), flag("source", "a")});
            }).find("--source: there is no option source for rnnsearch"),
            0u);
}

TEST(TrainingOptions, FilesOfLinesStandInTheOrderOfTheColumns) {
  TrainingPlan plan = plan_training({flag("source", "a.en,b.en"), flag("target", "a.de,b.de")});
  EXPECT_EQ(plan.training.training_files().files, (std::vector<std::string>{"a.en", "a.de", "b.en", "b.de"}));
  plan = plan_training({flag("data", "x.tsv,y.tsv"), flag("format", "tsv"), flag("columns", "target,-,source"),
                        flag("alignments", "l")});
  const SampleFiles files = plan.training.training_files();
  EXPECT_EQ(files.files, (std::vector<std::string>{"x.tsv", "y.tsv"}));
  EXPECT_EQ(files.format, "tsv");
  EXPECT_EQ(files.columns, (std::vector<std::string>{"target", "-", "source"}));
  EXPECT_EQ(files.alignments, (std::vector<std::string>{"l"}));
  EXPECT_FALSE(plan.training.validates());
}

TEST(TrainingOptions, SaysWhatIsWrong) {
  EXPECT_EQ(message_of([] { plan_training({flag("model", "transfomer")}); }),
            "[model] there is no model transfomer; did you mean transformer?");
  EXPECT_EQ(message_of([] { plan_training({flag("job", "translatoin")}); }),
            "[jobs] there is no job translatoin; did you mean translation?");
  EXPECT_EQ(message_of([] { plan_training({flag("preset", "smal")}); }),
            "--preset: smal is not known; did you mean small?");
  EXPECT_EQ(message_of([] { plan_training({flag("epoch", "3")}); }),
            "--epoch: there is no option epoch for transformer; did you mean epochs?");
  EXPECT_EQ(message_of([] { plan_training({flag("epochs", "3.5")}); }),
            "--epochs: epochs must be a whole number, not '3.5'");
  EXPECT_EQ(message_of([] { plan_training({flag("vocabs", "one")}); }),
            "--vocabs: needs 2 values, one for each of source and target, not 1");
  EXPECT_EQ(plan_training({flag("dim-vocabs", "900 900")}).training.vocabulary_size, 900);
  EXPECT_EQ(message_of([] { plan_training({flag("dim-vocabs", "900 800")}); }),
            "--dim-vocabs: vocabulary-size is one for all sides, not 900 and 800");
  const std::string misfit = message_of([] { plan_training({flag("job", "translation"), flag("model", "shades")}); });
  EXPECT_TRUE(misfit.starts_with("--model: shades does not read and give what translation needs; these do: "));
  EXPECT_NE(misfit.find("convs2s, luong, "), std::string::npos) << misfit;
  Training training(job_named("translation"));
  training.model = "transformer";
  EXPECT_EQ(
      message_of([&] { change_training(training, {flag("model", "luong")}); }),
      "--resume: the model is transformer with preset small for translation, which cannot change; train into another "
      "folder");
  training = Training(job_named("translation"));
  EXPECT_EQ(message_of([&] { change_training(training, {flag("width", "8")}); }),
            "--width: it is an option of the model, which cannot change when resuming; train into another folder");
  EXPECT_EQ(message_of([&] { change_training(training, {flag("widht", "8")}); }),
            "--widht: there is no option widht for transformer; did you mean width?");
}

// What cannot be told from the options alone is found before anything begins.
TEST(TrainingOptions, IsCheckedBeforeItBegins) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  write_file(file("a"), "x\n");
  const auto message = [&](std::vector<GivenOption> given) {
    given.push_back(flag("output", file("model")));
    given.push_back(flag("epochs", "1"));
    return message_of([&] { check_training(plan_training(given).training); });
  };
  EXPECT_EQ(message({}), "--source: say what to train on (or give --data)");
  EXPECT_EQ(message({flag("source", file("a"))}), "--target: it is missing; --source and --target belong together");
  EXPECT_EQ(message({flag("target", file("a"))}), "--source: it is missing; --source and --target belong together");
  EXPECT_EQ(message({flag("source", file("a")), flag("target", file("none"))}),
            "--target: there is no file " + file("none"));
  EXPECT_EQ(message({flag("source", file("a") + "," + file("a")), flag("target", file("a"))}),
            "--target: 1 files for 2 files of --source");
  EXPECT_EQ(message({flag("data", file("a")), flag("source", file("a"))}),
            "--data: it takes the place of --source and --target");
  const std::vector<GivenOption> enough{flag("source", file("a")), flag("target", file("a"))};
  const auto with = [&](GivenOption option) {
    std::vector<GivenOption> given = enough;
    given.push_back(std::move(option));
    return message(given);
  };
  EXPECT_EQ(with(flag("valid-source", file("a"))),
            "--valid-target: it is missing; --valid-source and --valid-target belong together");
  EXPECT_EQ(with(flag("metrics", "blue")), "--metrics: blue is not known; did you mean bleu?");
  EXPECT_EQ(with(flag("vocabulary", "word")), "--vocabulary: word is not known; did you mean words?");
  EXPECT_EQ(with(flag("data", folder.path().string())), "--data: it takes the place of --source and --target");
  EXPECT_EQ(with(flag("alignments", folder.path().string())),
            "--alignments: " + folder.path().string() + " is a directory, not a file");
  const auto of_phonemes = [&](std::vector<GivenOption> given) {
    given.insert(given.end(), {flag("model", "listener"), flag("data", folder.path().string()),  // some are folders
                               flag("dictionary", file("a")), flag("output", "o"), flag("epochs", "1")});
    return plan_training(given).training;
  };
  EXPECT_EQ(of_phonemes({flag("optimizer", "adadelta")}).learning_rate, 1);
  EXPECT_EQ(of_phonemes({flag("optimiser", "adadelta"), flag("learning-rate", "0.5")}).learning_rate, 0.5);
  EXPECT_EQ(of_phonemes({}).vocabulary, "words");
  EXPECT_EQ(of_phonemes({}).metrics, "per,cross-entropy");
  check_training(of_phonemes({}));
  EXPECT_EQ(of_phonemes({flag("metrics", "wer")}).metrics, "wer");
  EXPECT_EQ(message_of([&] { check_training(of_phonemes({flag("vocabulary", "letters")})); }),
            "--dictionary: phonemes have blanks between them, so the vocabulary is words, not letters");
  check_training(
      plan_training({flag("source", file("a")), flag("target", file("a")), flag("output", "o"), flag("epochs", "1")})
          .training);
}

TEST(TrainingOptions, AreDescribedOnceForAllJobs) {
  std::set<std::string> names;
  for (const FieldDescription& field : describe_training()) EXPECT_TRUE(names.insert(field.name).second) << field.name;
  for (const Job& job : jobs())
    for (const JobSide* side : job.sides()) {
      EXPECT_TRUE(names.count(side->name)) << job.name;
      EXPECT_TRUE(names.count("valid-" + side->name)) << job.name;
      EXPECT_EQ(names.count(side->name + "-vocabulary"), is_text(side->kind) ? 1u : 0u) << job.name;
    }
}

TEST(TrainingOptions, Every) {
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
