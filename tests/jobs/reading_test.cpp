// Reading from its training to its explanations, and what a sample can be answered with.

#include <gtest/gtest.h>

#include <cmath>

#include "heed/data/corpora/stories.h"
#include "heed/data/words.h"
#include "heed/jobs/quality.h"
#include "heed/jobs/tuning.h"
#include "jobs/trained_model_test.h"
#include "support/messages.h"
#include "support/tiny_bundle.h"

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

std::shared_ptr<const Vocabulary> words(const std::string& list) {
  return words_from("<unk>\n<s>\n</s>\n" + list, "words", WordCutting::tokens);
}
Texts texts_of(const std::vector<Choice>& choices) {
  Texts texts;
  for (const Choice& choice : choices) texts.push_back(choice.text);
  return texts;
}

TEST(Choices, AreTheDifferentWordsWhetherTheyAreKnownOrNot) {
  const auto vocabulary = words("the\nsat\n");
  const Sample sample = sample_of({"The cat, the dog sat; the cat", "XXXXX"});
  EncodedSample encoded{.inputs = {{.words = vocabulary->encode(sample.inputs[0].text)}, {}}};
  const std::vector<Choice> choices = mark_choices(*vocabulary, sample, encoded);
  EXPECT_EQ(texts_of(choices), (Texts{"The", "cat", ",", "the", "dog", "sat", ";"}));
  EXPECT_EQ(encoded.inputs[0].marks, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 3, 1}));
  EXPECT_EQ(choices[4].begin, 13);
  EXPECT_EQ(choices[4].end, 16);
  EXPECT_EQ(choices_of(encoded).ends, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(choices_of(encoded).words[3], vocabulary->encode("the")[0]);
}

TEST(Choices, ABlankInTheDocumentIsNone) {
  const auto vocabulary = words("the\nsat\n");
  const auto choices = [&](const std::string& document, std::vector<std::int32_t> marks) {
    const Sample sample = sample_of({document, "XXXXX"});
    EncodedSample encoded{.inputs = {{.words = vocabulary->encode(document)}, {}}};
    const std::vector<Choice> found = mark_choices(*vocabulary, sample, encoded);
    EXPECT_EQ(encoded.inputs[0].marks, marks);
    return texts_of(found);
  };
  EXPECT_EQ(choices("the cat XXXXX sat", {0, 1, -1, 2}), (Texts{"the", "cat", "sat"}));
  EXPECT_EQ(choices("XXXXX", {0}), (Texts{"XXXXX"}));
}

TEST(Choices, GivenOnesMayHaveSeveralWordsAndNeedNotOccur) {
  const auto vocabulary = words("new\nyork\n");
  Sample sample = sample_of({"in New York, new in York", "XXXXX"}, {"New York"});
  sample.choices = {"York", "New York", "Rome"};
  EncodedSample encoded{.inputs = {{.words = vocabulary->encode(sample.inputs[0].text)}, {}}};
  const std::vector<Choice> choices = mark_choices(*vocabulary, sample, encoded);
  EXPECT_EQ(encoded.inputs[0].marks, (std::vector<std::int32_t>{-1, 1, 1, -1, -1, -1, 0}));
  EXPECT_EQ(encoded.choices.ends, (std::vector<std::int32_t>{1, 3, 4}));
  EXPECT_EQ(choices[1].begin, 3);
  EXPECT_EQ(choices[1].end, 11);
  EXPECT_EQ(choices[2].begin, -1);
  EXPECT_EQ(choice_number(choices, sample), 1);
  sample.outputs = {"Paris"};
  EXPECT_EQ(message_of([&] { choice_number(choices, sample); }), "the answer Paris is none of the choices");
}

class ReadingTest : public TrainedModelTest {
 protected:
  static void SetUpTestSuite() {
    make_folder();
    write_labelled_corpus({.folder = folder_->path(), .columns = {"document", "question"}, .valid = 0.1, .test = 0.1},
                          generate_stories(600, 1));
    train({{"model", "aoa", ""},
           {"data", file("train.tsv"), ""},
           {"valid", file("valid.tsv"), ""},
           {"embedding", "16", ""},
           {"hidden", "12", ""},
           {"learning-rate", "0.02", ""},
           {"steps", "150", ""},
           {"validate-every", "75u", ""}});
  }
};

TEST(Choices, ThatATrainingHadAndASampleLacksAreWarnedOf) {
  const auto bundle = std::make_shared<Bundle>(make_tiny({.system = "aoa"}));
  std::string warned;
  const auto warn = [&](const std::string& line) { warned += line; };
  std::vector<Sample> samples{sample_of({"the cat", "XXXXX"}), sample_of({"the cat", "XXXXX"})};
  samples[0].choices = {"the", "cat"};
  Runner(bundle, "reader", 1, warn).run(samples);
  EXPECT_EQ(warned, "");
  bundle->choices_given = true;
  Runner reader(bundle, "reader", 1, warn);
  reader.run(samples);
  reader.run(samples);
  EXPECT_EQ(
      warned,
      "1 of 2 samples have no choices, but reader was trained with choices and has not learnt to choose among all "
      "words of a text");
}

TEST_F(ReadingTest, AnswersAreWordsOfTheDocumentWithTheirPlaces) {
  const TestSet test = read_test_set(job_named("reading"), {.files = {file("test.tsv")}}, file("test.gold.jsonl"));
  Runner reader = runner();
  RunOptions options;
  options.search.options.best = 1000;
  const auto results = reader.run(test.samples, options);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& document = test.samples[i].inputs[0].text;
    double sum = 0;
    for (const Result& result : results[i]) {
      sum += result.score;
      ASSERT_GE(result.begin, 0);
      EXPECT_EQ(
          document.substr(static_cast<std::size_t>(result.begin), static_cast<std::size_t>(result.end - result.begin)),
          result.text);
    }
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  const Quality quality = measure_quality(reader, test);
  EXPECT_GT(quality.metrics.front().second, 20);  // a word of a story at random: 4
  ASSERT_TRUE(quality.gold);
  EXPECT_GT(quality.gold->share, quality.gold->uniform);
}

TEST_F(ReadingTest, GivenChoicesAreAllThereIs) {
  Sample sample = sample_of({"linda took the lamp to the barn .", "the lamp is in the _ ."});
  sample.choices = {"barn", "lamp", "tower"};
  RunOptions options;
  options.search.options.best = 10;
  Runner reader = runner();
  const std::vector<Sample> samples{sample};
  const auto results = reader.run(samples, options);
  ASSERT_EQ(results[0].size(), 3U);
  EXPECT_EQ(results[0][2].text, "tower");
  EXPECT_EQ(results[0][2].begin, -1);
  sample.outputs = {"barn"};
  const std::vector<Sample> answered{sample};
  EXPECT_LT(reader.score(answered)[0].log_probability, 0);
}

TEST_F(ReadingTest, AnswersAreChosenAnewWhereAModelWasTuned) {
  const std::filesystem::path tuned_folder = folder_->path() / "tuned";
  std::filesystem::copy(folder_->path() / "model", tuned_folder, std::filesystem::copy_options::recursive);
  const TestSet valid = read_test_set(job_named("reading"), {.files = {file("valid.tsv")}});
  Texts documents;
  for (const Sample& sample : read_test_set(job_named("reading"), {.files = {file("train.tsv")}}).samples)
    documents.push_back(sample.inputs.front().text);
  const TunedReranking tuned =
      tune_reranking(tuned_folder, valid.samples, documents, {.order = 4, .classes = 8, .best = 5}, 1, [](auto&) {});
  EXPECT_GE(tuned.after, tuned.before);
  EXPECT_GE(tuned.possible, tuned.after);
  tuned.reranking.save(ModelFolder(tuned_folder));

  Runner plain = runner();
  Runner reader({tuned_folder}, 1, [](const std::string& line) { ADD_FAILURE() << line; });
  EXPECT_NEAR(measure_quality(reader, valid).metrics.front().second, tuned.after, 1e-6);
  EXPECT_NEAR(measure_quality(plain, valid).metrics.front().second, tuned.before, 1e-6);
  RunOptions options;
  options.rerank = false;
  EXPECT_NEAR(measure_quality(reader, valid, options).metrics.front().second, tuned.before, 1e-6);

  options.rerank = true;
  options.search.options.best = 1000;
  const auto anew = reader.run(valid.samples, options), before = plain.run(valid.samples, options);
  const std::vector<Sample> asked{without_outputs(valid.samples.front())};
  for (std::size_t i = 0; i < anew.size(); ++i) {
    ASSERT_EQ(anew[i].size(), before[i].size());
    double sum = 0;
    for (const Result& result : anew[i]) sum += result.score;
    EXPECT_NEAR(sum, 1, 1e-4);
    const auto five = std::span(before[i]).first(5);
    EXPECT_TRUE(std::ranges::any_of(five, [&](const Result& result) { return result.text == anew[i][0].text; }));
  }
  const Trace trace = reader.explain(asked).front();  // shows what is answered
  EXPECT_EQ(trace.output().text.text, anew[0][0].text);
  EXPECT_NEAR(trace.choices.front().probability, anew[0][0].score, 1e-5);  // batches round otherwise
}

// Beyond the limit there may be the answer; then it counts as wrong and has no probability.
TEST_F(ReadingTest, AnAnswerThatWasCutOffIsCountedAndNoError) {
  TestSet test;
  test.samples = {sample_of({"the lamp . barn", "XXXXX"}, {"barn"}), sample_of({"the barn", "XXXXX"}, {"barn"})};
  Runner reader({folder_->path() / "model"}, 1, [](const std::string&) {});
  RunOptions options;
  options.limits.longest = 3;
  const Quality quality = measure_quality(reader, test, options);
  EXPECT_EQ(quality.unknown_labels, 1);
  EXPECT_TRUE(std::isfinite(quality.cross_entropy));
  EXPECT_EQ(reader.bundle().longest, 600);  // of the job's training: what is not limited is cut there
}

TEST_F(ReadingTest, FaultsOfQuestionsAreSaid) {
  Runner reader = runner();
  const auto message = [&](Sample sample) {
    const std::vector<Sample> samples{std::move(sample)};
    return message_of([&] { runner().run(samples); });
  };
  EXPECT_EQ(message(sample_of({"a b", "no blank"})), "[answer] line 1: the question has no blank, such as XXXXX");
  EXPECT_EQ(message(sample_of({"a b", "_ or _"})), "[answer] line 1: the question has several blanks");
  Sample twice = sample_of({"a b", "_"});
  twice.choices = {"a", "a"};
  EXPECT_EQ(message(twice), "[answer] line 1: the choice a is given twice");
  const std::vector<Sample> wrong{sample_of({"a b", "_"}, {"c"})};
  EXPECT_EQ(message_of([&] { reader.score(wrong); }), "the answer c does not occur in the text");
  twice.choices = {"a", " "};
  EXPECT_EQ(message(twice), "[answer] line 1: a choice is empty");
  std::string warned;
  Runner warning({folder_->path() / "model"}, 1, [&](const std::string& line) { warned = line; });
  const std::vector<Sample> empty{sample_of({"", "_"})}, unasked{sample_of({"a b", ""})};
  EXPECT_EQ(warning.run(empty)[0][0].text, "");
  EXPECT_EQ(warned, "line 1: its document is empty, and so is its answer");
  EXPECT_EQ(warning.run(unasked)[0][0].text, "");
  EXPECT_EQ(warned, "line 2: its question is empty, and so is its answer");
  EXPECT_EQ(message_of([&] { reader.explain(empty); }), "[explain] there is nothing to choose from: document is empty");
  EXPECT_EQ(message_of([&] { reader.explain(unasked); }),
            "[explain] there is nothing to choose from: question is empty");
}

TEST_F(ReadingTest, ATraceHasTheDocumentAndBothDirectionsOfThePairs) {
  Runner reader = runner();
  const std::vector<Sample> samples{sample_of({"linda took the lamp to the barn .", "the lamp is in the XXXXX ."})};
  ExplainOptions options;
  options.attentions = options.trust = true;
  const Trace trace = reader.explain(samples, options).front();
  EXPECT_EQ(trace.rows, "answer");
  EXPECT_EQ(trace.columns, "document");
  EXPECT_EQ(trace.alignment.shape(), (Shape{1, 9}));
  ASSERT_EQ(trace.attentions.size(), 3U);
  EXPECT_EQ(trace.attentions[1].rows, "question");
  EXPECT_EQ(trace.attentions[2].columns, "question");
  EXPECT_EQ(trace.choices.size(), 7U);
  EXPECT_EQ(trace.trust.size(), 1U);
}

}  // namespace
}  // namespace heed::test
