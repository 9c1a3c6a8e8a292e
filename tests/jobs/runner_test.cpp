#include "heed/jobs/runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed::test {
namespace {

const std::vector<std::string> kLines{"the cat sleeps", "we walk to the old house", "cats", "the river bank"};

class RunnerTest : public testing::Test {
 protected:
  Runner::Warn warn() {
    return [this](const std::string& line) { warnings_.push_back(line); };
  }
  Runner runner(const std::string& system, std::uint64_t seed = 5, int threads = 1) {
    return {std::make_shared<const Bundle>(make_tiny({.system = system, .seed = seed})), system, threads, warn()};
  }
  std::filesystem::path folder(const std::string& name, const TinyBundle& tiny) const {
    return make_tiny_folder(folder_.path() / name, tiny);
  }

  TemporaryFolder folder_;
  std::vector<std::string> warnings_;
};

TEST_F(RunnerTest, OutputsDoNotDependOnNeighboursOrThreads) {
  Runner one = runner("transformer"), many = runner("transformer", 5, 3);
  std::vector<std::string> lines = kLines;
  lines.insert(lines.begin() + 1, "");
  RunOptions options;
  options.search.batch.samples = 1;
  const auto alone = one.run(samples_of(lines), options);
  options.search.batch.samples = 4;
  const auto together = many.run(samples_of(lines), options);
  ASSERT_EQ(alone.size(), lines.size());
  ASSERT_EQ(together.size(), lines.size());
  EXPECT_EQ(alone[1].front().text, "");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(together[i].front().text, alone[i].front().text);
    EXPECT_NEAR(together[i].front().log_probability, alone[i].front().log_probability, 1e-4);
  }
  EXPECT_TRUE(warnings_.empty());
  EXPECT_TRUE(one.run({}).empty());
}

TEST_F(RunnerTest, GivesAsManyAnswersAsAreAskedForBestFirst) {
  Runner model = runner("rnnsearch");
  RunOptions options;
  options.search.options.beam = 6;
  options.search.options.best = 4;
  for (const std::vector<Result>& answers : model.run(samples_of(kLines), options)) {
    ASSERT_EQ(answers.size(), 4u);
    for (std::size_t i = 1; i < answers.size(); ++i) EXPECT_GE(answers[i - 1].score, answers[i].score);
    for (const Result& answer : answers) {
      EXPECT_LT(answer.log_probability, 0);
      EXPECT_TRUE(answer.alignment);
    }
  }
  options.search.options.best = 1;
  for (const std::vector<Result>& answers : model.run(samples_of(kLines), options)) EXPECT_EQ(answers.size(), 1u);
}

TEST_F(RunnerTest, OutputsBeginWithTheirPrefixes) {
  Runner model = runner("luong");
  RunOptions options;
  options.prefixes = {"the old", "", "river", "cats we"};
  const auto with = model.run(samples_of(kLines), options), without = model.run(samples_of(kLines));
  for (std::size_t i = 0; i < kLines.size(); ++i)
    EXPECT_EQ(with[i].front().text.substr(0, options.prefixes[i].size()), options.prefixes[i]);
  EXPECT_EQ(with[1].front().text, without[1].front().text);
  options.prefixes.pop_back();
  EXPECT_EQ(message_of([&] { model.run(samples_of(kLines), options); }), "[translate] 3 prefixes for 4 inputs");
  options.prefixes.push_back("a\xff");
  EXPECT_EQ(message_of([&] { model.run(samples_of(kLines), options); }),
            "[translate] the prefix is not valid UTF-8 at byte 1");
}

TEST_F(RunnerTest, LongInputsAreCutWithAWarningOrRefused) {
  Runner model = runner("rnnsearch");
  RunOptions options;
  options.limits.longest = 3;
  const auto cut = model.run(samples_of(kLines), options);
  EXPECT_EQ(warnings_, (std::vector<std::string>{"line 2 has 6 pieces and is cut to 3"}));
  EXPECT_EQ(cut[1].front().text, model.run(samples_of({"we walk to"})).front().front().text);
  // The count goes on from call to call.
  model.run(samples_of({"the cat sleeps near the house"}), options);
  EXPECT_EQ(warnings_.back(), "line 6 has 6 pieces and is cut to 3");
  options.limits.too_long = TooLong::refuse;
  EXPECT_EQ(message_of([&] { model.run(samples_of(kLines), options); }),
            "[translate] the input has 6 pieces; 3 are allowed");
}

TEST_F(RunnerTest, WhatIsNoTextCountsAsEmpty) {
  Runner model = runner("rnnsearch");
  const auto results = model.run(samples_of({"the cat", "a\xff", "   ", ""}));
  EXPECT_EQ(warnings_, (std::vector<std::string>{"line 2 is not valid UTF-8 and counts as empty"}));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    ASSERT_EQ(results[i].size(), 1u);
    EXPECT_EQ(results[i].front().text, "");
    EXPECT_FALSE(results[i].front().alignment);
  }
  EXPECT_EQ(results[0].front().text, model.run(samples_of({"the cat"})).front().front().text);
  EXPECT_EQ(message_of([&] {
              model.run(std::vector<Sample>{sample_of({"a", "b"})});
            }),
            "[translate] 2 inputs, but it reads 1");
}

TEST_F(RunnerTest, ALabelIsOfATextThatIsThere) {
  Runner model(std::make_shared<const Bundle>(make_tiny({.system = "rocktaschel", .labels = {"no", "yes"}})), "judge",
               1, warn());
  const Sample good = sample_of({"the cat sleeps", "cats"});
  const auto message = [&](const Sample& bad) {
    const std::vector<Sample> samples{good, bad};
    return message_of([&] { model.run(samples); });
  };
  EXPECT_NE(model.run(std::vector<Sample>{good}).front().front().text, "");
  EXPECT_EQ(message(sample_of({"", "cats"})), "[entail] line 3: the premise is empty");
  EXPECT_EQ(message(sample_of({"cats", " \t"})), "[entail] line 5: the hypothesis is empty");
  EXPECT_EQ(message(sample_of({"cats", "a\xff"})), "[entail] line 7 is not valid UTF-8 at byte 1");
  EXPECT_EQ(message_of([&] {
              model.explain(std::vector<Sample>{sample_of({" ", "cats"})});
            }),
            "[entail] line 8: the premise is empty");
}

TEST_F(RunnerTest, WorkEndsWhenItsWatcherThrows) {
  Runner model = runner("transformer");
  Index steps = 0;
  RunOptions options;
  options.on_step = [&] { ++steps; };
  model.run(samples_of(kLines), options);
  EXPECT_GT(steps, 4);
  options.on_step = [] { throw Error("enough"); };
  EXPECT_EQ(message_of([&] { model.run(samples_of(kLines), options); }), "enough");
}

// What is written is as probable as the model says when it reads it, and as the parts of its explanation.
TEST_F(RunnerTest, ScoresAreTheSumsOfWhatExplainingSays) {
  for (const System* system : systems_of(job_named("translation"))) {
    Runner model = runner(system->name);
    const std::vector<Sample> samples{sample_of({kLines[0]}, {"the house"}), sample_of({kLines[1]}, {"cats"}),
                                      sample_of({kLines[2]}, {"we walk near the river bank"}),
                                      sample_of({""}, {"cats"}), sample_of({kLines[3]}, {""})};
    const std::vector<SampleScore> scores = model.score(samples);
    const std::vector<Trace> traces = model.explain(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::vector<double>& parts = traces[i].log_probabilities;
      EXPECT_EQ(scores[i].words, static_cast<Index>(parts.size()));
      EXPECT_NEAR(scores[i].log_probability, std::accumulate(parts.begin(), parts.end(), 0.0), 1e-4) << system->name;
    }
    const auto found = model.run(samples_of(kLines));
    std::vector<Sample> written = samples_of(kLines);
    for (std::size_t i = 0; i < written.size(); ++i) written[i].outputs = {found[i].front().text};
    const std::vector<SampleScore> again = model.score(written);
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (found[i].front().text.find("<unk>") != std::string::npos) continue;  // read back it is another word
      EXPECT_NEAR(again[i].log_probability, found[i].front().log_probability, 1e-3) << system->name << " " << i;
    }
  }
  EXPECT_EQ(message_of([&] { runner("luong").score(samples_of(kLines)); }),
            "[score] a sample has no output whose probability could be asked for");
}

TEST_F(RunnerTest, AnEnsembleDecidesByTheMeanOfItsModels) {
  const std::filesystem::path first = folder("first", {.system = "rnnsearch", .seed = 1}),
                              second = folder("second", {.system = "transformer", .seed = 2});
  Runner one({first}, 1, warn()), two({second}, 1, warn()), both({first, second}, 1, warn());
  Runner twice({first, first}, 1, warn());
  EXPECT_EQ(both.name(), "first");
  const std::vector<Sample> samples{sample_of({kLines[0]}, {"the house"}), sample_of({kLines[1]}, {"cats"})};
  const auto scores = both.score(samples), same = twice.score(samples), alone = one.score(samples);
  const auto traces = one.explain(samples), others = two.explain(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    double expected = 0;
    for (std::size_t t = 0; t < traces[i].log_probabilities.size(); ++t)
      expected += std::log((std::exp(traces[i].log_probabilities[t]) + std::exp(others[i].log_probabilities[t])) / 2);
    EXPECT_NEAR(scores[i].log_probability, expected, 1e-4);
    EXPECT_NEAR(same[i].log_probability, alone[i].log_probability, 1e-4);
  }
  const auto of_one = one.run(samples_of(kLines)), of_twice = twice.run(samples_of(kLines));
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    EXPECT_EQ(of_twice[i].front().text, of_one[i].front().text);
    EXPECT_NEAR(of_twice[i].front().log_probability, of_one[i].front().log_probability, 1e-4);
  }
  for (const std::vector<Result>& answers : both.run(samples_of(kLines))) EXPECT_EQ(answers.size(), 1u);
}

TEST_F(RunnerTest, ModelsThatCannotDecideTogetherAreRefused) {
  const std::filesystem::path first = folder("first", {.system = "rnnsearch"}),
                              other = folder("other", {.system = "rnnsearch", .texts = {"other words\n"}}),
                              shorter = folder("shorter", {.system = "rnnsearch", .job = "summarisation"});
  EXPECT_EQ(message_of([&] {
              Runner({first, other}, 1, warn());
            }),
            other.string() + ": its vocabularies or labels are not those of " + first.string() +
                "; models that decide together share them");
  EXPECT_EQ(message_of([&] {
              Runner({first, shorter}, 1, warn());
            }),
            shorter.string() + ": it is for summarisation, but " + first.string() + " is for translation");
}

// A model in use is that of the file that was opened, whatever stands there since.
TEST_F(RunnerTest, WeightsThatAreReplacedOrDeletedStayThoseOfTheModel) {
  const auto path = folder("model", {.system = "transformer"});
  const auto answers = [&](Runner& model) {
    std::vector<double> scores;
    for (const std::vector<Result>& each : model.run(samples_of(kLines))) scores.push_back(each.front().score);
    return scores;
  };
  Runner first({path}, 1, warn()), unused({path}, 1, warn());
  const std::vector<double> before = answers(first);
  const Bundle other = make_tiny({.system = "transformer", .seed = 6});
  ModelFolder(path).save_weights(*other.parameters);
  Runner second({path}, 1, warn());
  EXPECT_EQ(answers(first), before);
  EXPECT_EQ(answers(unused), before);  // whose weights nobody had read so far
  const std::vector<double> after = answers(second);
  EXPECT_NE(after, before);
  std::filesystem::remove_all(path);
  EXPECT_EQ(answers(first), before);
  EXPECT_EQ(answers(second), after);
}

TEST_F(RunnerTest, WeightsThatAreCutShortAreAnError) {
  const auto path = folder("model", {.system = "transformer"});
  const auto weights = path / "model.safetensors";
  const auto size = std::filesystem::file_size(weights);
  for (const std::uintmax_t left : {size - 1, size / 2, std::uintmax_t{5}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(weights, left);
    EXPECT_EQ(message_of([&] { Runner({path}, 1, warn()); }).find(weights.string() + ": "), 0u) << left;
  }
}

TEST_F(RunnerTest, AFolderHasTheModelThatWasPutIntoIt) {
  for (const System* system : systems_of(job_named("translation"))) {
    const TinyBundle tiny{.system = system->name, .job = "translation", .subwords = true};
    Runner loaded({folder(system->name, tiny)}, 1, warn());
    Runner made(std::make_shared<const Bundle>(make_tiny(tiny)), "made", 1, warn());
    EXPECT_EQ(loaded.job().name, "translation");
    EXPECT_EQ(loaded.bundle().system, system);
    const auto found = loaded.run(samples_of(kLines)), expected = made.run(samples_of(kLines));
    for (std::size_t i = 0; i < kLines.size(); ++i) {
      EXPECT_EQ(found[i].front().text, expected[i].front().text) << system->name;
      EXPECT_EQ(found[i].front().log_probability, expected[i].front().log_probability) << system->name;
    }
  }
}

}  // namespace
}  // namespace heed::test
