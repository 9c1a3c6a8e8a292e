// The job of shades_job.cpp, which no room knows, from its training to its explanations.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/jobs/job_metrics.h"
#include "heed/jobs/quality.h"
#include "heed/jobs/sample_evaluation.h"
#include "jobs/trained_model_test.h"
#include "support/messages.h"

namespace heed::test {
namespace {

constexpr Index kSide = 8, kImages = 48;
const std::vector<std::string> kLabels{"black", "dusk", "lamp"};

// A grey image of a label: all black, all dusk, or dusk with one light region. A lamp lies on the other side of dusk
// than black does: on the way to looking at it nothing looks like another label.
std::string image_of(const std::string& label, RandomSequence& random) {
  std::string bytes = fmt::format("P5 # of a test\n{} {}\n255\n", kSide, kSide);
  const auto lamp = static_cast<Index>(random.below(16));
  for (Index y = 0; y < kSide; ++y)
    for (Index x = 0; x < kSide; ++x) {
      const Index region = y / 2 * 4 + x / 2;
      const int least = label == "black" ? 10 : label == "lamp" && region == lamp ? 200 : 100;
      bytes += static_cast<char>(static_cast<std::uint64_t>(least) + random.below(40));
    }
  return bytes;
}

class TestOnlyJobTest : public TrainedModelTest {
 protected:
  static void SetUpTestSuite() {
    make_folder();
    RandomSequence random(RandomKey{7});
    for (const char* part : {"train", "test"}) {
      std::string list;
      for (Index i = 0; i < kImages; ++i) {
        const std::string& label = kLabels[static_cast<std::size_t>(i) % kLabels.size()];
        const std::string name = fmt::format("{}{}.pgm", part, i);
        write_file(folder_->path() / name, image_of(label, random));
        list += label + "\t" + name + "\n";
      }
      write_file(folder_->path() / (part + std::string(".tsv")), list);
    }
    train({{"model", "shades", ""},
           {"data", file("train.tsv"), ""},
           {"valid", file("test.tsv"), ""},
           {"steps", "1200", ""},
           {"validate-every", "400u", ""}});
  }
  static TestSet test_set() { return read_test_set(job_named("shading"), {.files = {file("test.tsv")}}); }
};

TEST_F(TestOnlyJobTest, IsFoundByItself) {
  EXPECT_EQ(job_named("shading").system, "shades");
  EXPECT_EQ(job_of_verb("shade"), &job_named("shading"));
  EXPECT_EQ(job_of_verb("shadow"), &job_named("shading"));
  ASSERT_EQ(systems_of(job_named("shading")).size(), 1u);
  std::set<std::string> flags;
  for (const FieldDescription& field : describe_training()) flags.insert(field.name);
  for (const char* flag : {"image", "valid-image", "label", "valid-label"}) EXPECT_TRUE(flags.count(flag)) << flag;
  for (const char* flag : {"image-vocabulary", "label-vocabulary"}) EXPECT_FALSE(flags.count(flag)) << flag;
}

TEST_F(TestOnlyJobTest, ReadsImagesOfBothForms) {
  const Value plain = decode_value(Kind::image, "P2\n4 4 # wide and high\n10\n0 1 2 3 4 5 6 7 8 9 10 0 0 0 0 0", "p");
  EXPECT_EQ(plain.numbers.shape(), (Shape{4, 4, 1}));
  EXPECT_NEAR(plain.numbers.at({2, 1, 0}), 0.9, 1e-6);
  const Value binary =
      decode_value(Kind::image, "P5 4 4 10\n" + std::string("\0\1\2\3\4\5\6\7\10\11\12\0\0\0\0\0", 16), "b");
  for (Index i = 0; i < 16; ++i) EXPECT_EQ(binary.numbers.data()[i], plain.numbers.data()[i]);
  const auto message = [](const std::string& bytes) {
    return message_of([&] { decode_value(Kind::image, bytes, "x.pgm"); });
  };
  EXPECT_EQ(message("P5 3 4 255\n"), "x.pgm: an image of 3 x 4 has no 4 x 4 regions");
  EXPECT_EQ(message("P5 4 4 255\nabc"), "x.pgm: 13 bytes are missing");
  EXPECT_EQ(message("P5 4 four"), "x.pgm: there is no number at byte 5 of the image");
  EXPECT_EQ(message("P2 4 4 1\n2"), "x.pgm: the number 2 is above 1");
  EXPECT_EQ(message("GIF89a"), "x.pgm: it is no image that can be read here");
}

TEST_F(TestOnlyJobTest, LearnsWhatItIsShown) {
  Runner model = runner();
  EXPECT_EQ(model.bundle().codes.labels, kLabels);
  EXPECT_EQ(model.bundle().chooser, model.bundle().model.get());
  EXPECT_EQ(model.bundle().writer, nullptr);
  const Quality quality = measure_quality(model, test_set());
  ASSERT_EQ(quality.metrics.size(), 3u);
  EXPECT_EQ(quality.metrics.front().first->name, "accuracy");
  EXPECT_GT(quality.metrics.front().second, 90);  // percent; chance is 33
  EXPECT_LT(quality.cross_entropy, 0.5);          // chance is 1.1
  EXPECT_FALSE(quality.alignment);
}

TEST_F(TestOnlyJobTest, WhatItsSenseLearntIsInTheFolder) {
  double sum = 0;
  for (Index i = 0; i < kImages; ++i) {
    const Value image = read_value(Kind::image, file(fmt::format("train{}.pgm", i)));
    for (const Real number : image.numbers.values()) sum += static_cast<double>(number) / (kSide * kSide);
  }
  const Runner model = runner();
  const std::vector<NamedTensor> known = model.bundle().codes.senses.front()->knowledge();
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].name, "mean");
  EXPECT_NEAR(known[0].tensor.item(), sum / kImages, 1e-5);
  EXPECT_GT(known[0].tensor.item(), 0.2);
}

TEST_F(TestOnlyJobTest, AnImageThatCannotBeReadIsCountedInTrainingAndAnErrorInRunning) {
  write_file(file("broken.pgm"), "P5 8 8 255\nabc");
  write_file(file("some.tsv"), "black\ttrain0.pgm\ndusk\tbroken.pgm\nlamp\ttrain2.pgm\nlamp\tmissing.pgm\n");
  std::string said;
  train_model(plan_training({{"model", "shades", ""},
                             {"data", file("some.tsv"), ""},
                             {"output", file("some"), ""},
                             {"allow-bad-lines", "true", ""},
                             {"steps", "1", ""},
                             {"threads", "1", ""},
                             {"shards", "1", ""}}),
              false, [&said](const std::string& line) { said += line + "\n"; });
  const std::string list = file("some.tsv");
  EXPECT_NE(said.find(fmt::format("4 samples, 2 used\n  2 left out, cannot be read: {}:4 ({}), {}:2 ({}: 61 bytes are "
                                  "missing)",
                                  list, "missing.pgm", list, file("broken.pgm"))),
            std::string::npos)
      << said;
  Runner model = runner();
  const std::string broken = file("broken.pgm");
  EXPECT_EQ(message_of([&] { model.run(std::vector{Sample{.inputs = {open_value(Kind::image, broken)}}}); }),
            broken + ": 61 bytes are missing");
}

TEST_F(TestOnlyJobTest, ALabelThatTheModelDoesNotKnowIsRefusedOrWrong) {
  write_file(file("more.tsv"), "black\ttest0.pgm\ndusk\ttest1.pgm\nlamb\ttest2.pgm\nlamp\ttest2.pgm\n");
  Runner model = runner();
  const TestSet test = read_test_set(model.job(), {.files = {file("more.tsv")}});
  EXPECT_EQ(message_of([&] { measure_quality(model, test); }),
            file("more.tsv") + ", line 3: the model model has no label lamb; did you mean lamp?");
  const Quality quality = measure_quality(model, test, {}, UnknownLabels::count);
  EXPECT_EQ(quality.unknown_labels, 1);
  EXPECT_EQ(quality.metrics[0].second, 75);
  EXPECT_NEAR(quality.metrics[1].second, 100 * (1 + 1 + 2.0 / 3 + 0) / 4, 1e-9);  // the lamb is a class of its own
  EXPECT_LT(quality.cross_entropy, 0.5);                                          // of the other three
}

TEST_F(TestOnlyJobTest, IsEvaluatedWithIntervalsAndAReport) {
  SampleEvaluationOptions options{.models = {file("model"), file("model")},
                                  .files = [](const Job&) { return SampleFiles{.files = {file("test.tsv")}}; },
                                  .draws = 200,
                                  .significance = true,
                                  .threads = 1};
  const auto warn = [](const std::string& line) { ADD_FAILURE() << line; };
  const SampleEvaluation evaluation = evaluate_samples(options, warn);
  ASSERT_EQ(evaluation.models.size(), 2u);
  const EvaluatedSamples &first = evaluation.models[0], &second = evaluation.models[1];
  ASSERT_EQ(first.resampled.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(first.resampled[i].interval->score, first.quality.metrics[i].second);
    EXPECT_LE(first.resampled[i].interval->low, first.quality.metrics[i].second);
    EXPECT_GE(first.resampled[i].interval->high, first.quality.metrics[i].second);
    EXPECT_FALSE(first.resampled[i].against_first);
    EXPECT_EQ(second.resampled[i].against_first->difference, 0);  // the same model
    EXPECT_EQ(second.resampled[i].against_first->p_value, 1);
  }
  std::vector<std::string> outputs;
  for (const Result& output : first.quality.outputs) outputs.push_back(output.text);
  EXPECT_EQ(first.report, label_report(outputs, test_set().samples));
  EXPECT_NE(evaluation.text().find("\n" + file("model") + "\n" + first.report), std::string::npos);
  options.confusion = true;
  EXPECT_EQ(message_of([&] { evaluate_samples(options, warn); }), "[evaluate] --confusion draws one model, not 2");
  options.models.pop_back();
  EXPECT_EQ(message_of([&] { evaluate_samples(options, warn); }),
            "[evaluate] --significance compares at least two models, by at least one of --draws");
  options.significance = false, options.draws = 0;
  const SampleEvaluation plain = evaluate_samples(options, warn);
  EXPECT_EQ(plain.text().find("95 %"), std::string::npos);
  EXPECT_NE(plain.draw_confusion().find("true black, predicted black: 16 of 16"), std::string::npos);
}

TEST_F(TestOnlyJobTest, AnswersWithLabelsBestFirst) {
  Runner model = runner();
  const TestSet test = test_set();
  RunOptions options;
  options.search.options.best = 2;
  const auto results = model.run(test.samples, options);
  const std::vector<SampleScore> scores = model.score(test.samples);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i].size(), 2u);
    EXPECT_GE(results[i][0].score, results[i][1].score);
    for (const Result& result : results[i]) {
      EXPECT_NEAR(std::exp(result.log_probability), result.score, 1e-6);
      EXPECT_FALSE(result.alignment);
      if (result.text == test.samples[i].outputs.front()) {
        EXPECT_NEAR(scores[i].log_probability, result.log_probability, 1e-4);
      }
    }
    EXPECT_EQ(scores[i].words, 1);
  }
  options.search.options.best = 9;
  for (const auto& answers : model.run(test.samples, options)) {
    ASSERT_EQ(answers.size(), kLabels.size());  // there are no more
    EXPECT_NEAR(answers[0].score + answers[1].score + answers[2].score, 1, 1e-5);
  }
  options.prefixes.resize(test.samples.size());
  EXPECT_EQ(message_of([&] { model.run(test.samples, options); }), "[shade] what is chosen has no prefix");
}

TEST_F(TestOnlyJobTest, ItsTraceHasAGridAndALabel) {
  Runner model = runner();
  const TestSet test = test_set();
  ExplainOptions options;
  options.attentions = options.trust = true;
  std::vector<Sample> unlabelled = test.samples;
  for (Sample& sample : unlabelled) sample.outputs.clear();
  const std::vector<Trace> traces = model.explain(unlabelled, options);
  const auto results = model.run(test.samples);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const Trace& trace = traces[i];
    EXPECT_EQ(trace.job, "shading");
    EXPECT_EQ(trace.system, "shades");
    EXPECT_EQ(trace.model, "model");
    ASSERT_EQ(trace.axes.size(), 2u);
    const TraceAxis &image = trace.axis("image"), &label = trace.axis("label");
    EXPECT_EQ(image.kind, Kind::image);
    EXPECT_EQ(image.rows, 4);
    EXPECT_EQ(image.columns, 4);
    EXPECT_EQ(label.kind, Kind::label);
    EXPECT_EQ(label.size(), 1);
    EXPECT_EQ(label.text.text, results[i].front().text);
    EXPECT_EQ(trace.rows, "label");
    EXPECT_EQ(trace.columns, "image");
    ASSERT_EQ(trace.alignment.shape(), (Shape{1, 16}));
    double sum = 0;
    for (const Real weight : trace.alignment.values()) sum += static_cast<double>(weight);
    EXPECT_NEAR(sum, 1, 1e-5);
    ASSERT_EQ(trace.attentions.size(), 1u);
    EXPECT_EQ(trace.attentions.front().name, "label.image");
    EXPECT_EQ(trace.attentions.front().weights.shape(), (Shape{1, 1, 16}));
    ASSERT_EQ(trace.choices.size(), kLabels.size());
    EXPECT_EQ(trace.choices.front().label, label.text.text);
    EXPECT_NEAR(trace.choices.front().probability, results[i].front().score, 1e-5);
    EXPECT_TRUE(trace.log_probabilities.empty());
    ASSERT_EQ(trace.trust.size(), 1u);
    const TraceTrust& trust = trace.trust.front();
    EXPECT_EQ(trust.entropy.size(), 1u);
    for (const double number : {trust.gradient_agreement, trust.leave_one_out_agreement, trust.comprehensiveness,
                                trust.sufficiency, trust.random_comprehensiveness, trust.random_sufficiency})
      EXPECT_TRUE(std::isfinite(number));
  }
  // A given label is explained though it is not the likeliest.
  const Trace given =
      model.explain(std::vector<Sample>{{.inputs = test.samples[0].inputs, .outputs = {"lamp"}}}).front();
  EXPECT_EQ(given.output().text.text, "lamp");
  EXPECT_EQ(given.choices.front().label, "black");
  EXPECT_EQ(
      message_of([&] { model.explain(std::vector<Sample>{{.inputs = test.samples[0].inputs, .outputs = {"lapm"}}}); }),
      "[shading] the model has no label lapm; did you mean lamp?");
}

TEST_F(TestOnlyJobTest, ALampIsSeenWhereItIs) {
  Runner model = runner();
  Index seen = 0, lamps = 0;
  for (const Sample& sample : test_set().samples) {
    if (sample.outputs.front() != "lamp") continue;
    const Trace trace = model.explain(std::vector<Sample>{{.inputs = sample.inputs}}).front();
    const Tensor features = model.bundle().sense_input(0, sample.inputs.front()).features;
    const auto most = [](const Tensor& x) {
      return std::max_element(x.values().begin(), x.values().end()) - x.values().begin();
    };
    ++lamps;
    seen += most(trace.alignment) == most(features) ? 1 : 0;
  }
  EXPECT_EQ(lamps, kImages / 3);
  EXPECT_GT(seen, lamps * 9 / 10);
}

TEST_F(TestOnlyJobTest, ItsFolderHasEverything) {
  const ModelFolder folder(folder_->path() / "model");
  EXPECT_EQ(folder.model(), "shades");
  EXPECT_EQ(folder.job(), "shading");
  EXPECT_EQ(read_file(folder.path() / "label.labels.txt"), "black\ndusk\nlamp\n");
  const Bundle bundle = load_bundle(folder, FolderWeights::trained);
  EXPECT_EQ(bundle.config->inputs, (std::vector<Index>{1}));
  EXPECT_EQ(bundle.config->outputs, 3);
  EXPECT_TRUE(bundle.example.empty());  // an image is none that can be shown as a text
  const ModelFolder copy = create_folder(folder_->path() / "copy", bundle, {}, false);
  copy.save_weights(*bundle.parameters);
  Runner first = runner(), second({copy.path()}, 1, [](const std::string&) {});
  const TestSet test = test_set();
  const auto expected = first.run(test.samples), found = second.run(test.samples);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].front().score, expected[i].front().score);
  const Training training = training_of_folder(folder.path());
  EXPECT_EQ(training.job, "shading");
  EXPECT_EQ(training.data, file("train.tsv"));
}

TEST_F(TestOnlyJobTest, LabelsThatAreTooFewAreAnError) {
  write_file(folder_->path() / "one.tsv", "black\ttrain0.pgm\n");
  EXPECT_EQ(message_of([&] {
              train_model(plan_training({{"model", "shades", ""},
                                         {"data", file("one.tsv"), ""},
                                         {"output", file("none"), ""},
                                         {"steps", "1", ""}}),
                          false, [](const std::string&) {});
            }),
            "[train] there is no label but black in " + file("one.tsv") + "; at least two labels are needed");
}

}  // namespace
}  // namespace heed::test
