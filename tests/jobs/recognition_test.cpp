#include <gtest/gtest.h>

#include <cmath>

#include "heed/data/sound_files.h"
#include "heed/data/sound_preview.h"
#include "heed/explain/svg.h"
#include "heed/jobs/runner.h"
#include "support/messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed::test {
namespace {

Sample tone(double seconds, const std::string& name = "tone.wav") {
  Tensor samples(Shape{static_cast<Index>(16'000 * seconds), 1});
  for (Index i = 0; i < samples.size(); ++i)
    samples.data()[i] = static_cast<Real>(0.3 * std::sin(0.05 * static_cast<double>(i)));
  return {.inputs = {{.text = name, .numbers = samples, .rate = 16'000}}};
}

Runner listener(std::map<std::string, std::string> settings = {}) {
  settings["normalise"] = "none";
  return Runner(std::make_shared<const Bundle>(
                    make_tiny({.system = "listener", .settings = settings, .texts = {"one two three\n"}})),
                "ear", 1, [](const std::string&) {});
}

TEST(Recognition, SaysWhenEachWordWasSaid) {
  Runner runner = listener();
  const std::vector<Sample> samples{tone(1), tone(0.4)};
  const auto results = runner.run(samples);
  ASSERT_EQ(results.size(), 2u);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& best = results[i].front();
    ASSERT_TRUE(best.times);
    const Transcript& times = best.times->transcript;
    EXPECT_NEAR(times.seconds, i == 0 ? 1 : 0.4, 0.03);
    EXPECT_EQ(text_of(times), best.text);
    double last = 0;
    for (const TimedWord& word : times.words) {
      EXPECT_GE(word.begin, last - 1e-9);
      EXPECT_GE(word.end, word.begin);
      EXPECT_LE(word.end, times.seconds + 1e-9);
      EXPECT_GT(word.confidence, 0);
      EXPECT_LE(word.confidence, 1);
      last = word.begin;
    }
  }
}

// A search that never ends is stopped by what can be said in the time.
TEST(Recognition, EndsASearchThatRunsAway) {
  Runner runner = listener();
  const auto results = runner.run(std::vector<Sample>{tone(2)});
  EXPECT_LE(results[0].front().times->transcript.units.size(), 30u * 2 + 10);
}

// Windows have no weights, so that long sounds can be heard by a model that was trained without.
TEST(Recognition, ARunSetsWhatNoWeightsDependOn) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "ear";
  make_tiny_folder(path, {.system = "listener", .settings = {{"normalise", "none"}}, .texts = {"one two three\n"}});
  // What the first look has of the first half second.
  const auto run = [&](const RunSettings& settings) {
    Runner runner(
        {path}, 1, [](const std::string&) {}, FolderWeights::trained, Numbers::stored, settings);
    const Trace trace = runner.explain(std::vector<Sample>{tone(3)}).front();
    double sum = 0;
    for (Index j = 0; j < 50; ++j) sum += static_cast<double>(trace.alignment.at({0, j}));
    return sum;
  };
  EXPECT_LT(run({}), 0.9);
  EXPECT_NEAR(run({{"window", "median"}, {"half_width", "0"}}), 1, 1e-5);
  EXPECT_EQ(message_of([&] {
              run({{"hidden", "3"}});
            }),
            "[listener] hidden is not what a run can set; it can set window, half-width, end-in-sight, ctc-search");
  EXPECT_NE(message_of([&] { run({{"half-width", "wide"}}); }).find("half-width"), std::string::npos);
  EXPECT_NE(message_of([&] { run({{"ctc-search", "0.5"}}); }).find("ctc-weight is 0"), std::string::npos);
}

// Most frames are never looked at, and each would count as much as a word that is left out.
TEST(Recognition, RefusesAPenaltyThatIsForWords) {
  Runner runner = listener();
  RunOptions options;
  options.search.options.coverage_penalty = 0.5;
  EXPECT_NE(
      message_of([&] { runner.run(std::vector<Sample>{tone(1)}, options); }).find("coverage penalty is for words"),
      std::string::npos);
}

TEST(Recognition, RefusesWhatIsTooLongToHear) {
  Runner runner = listener({{"longest-sound", "0.5"}});
  EXPECT_NE(message_of([&] { runner.run(std::vector<Sample>{tone(1)}); }).find("longer than 0.5"), std::string::npos);
}

TEST(Recognition, DrawsTheSpectrogramAboveTheWeights) {
  Runner runner = listener();
  const std::vector<Trace> traces = runner.explain(std::vector<Sample>{tone(1)});
  const TraceAxis& sound = traces.front().axes.front();
  EXPECT_TRUE(is_preview(sound.preview));
  EXPECT_GT(sound.frames.step, 0);
  EXPECT_EQ(traces.front().alignment.size(1), sound.size());
  EXPECT_NE(draw_svg(traces.front()).find("<image "), std::string::npos);
}

TEST(SoundPreview, IsAPictureOfAnySound) {
  EXPECT_TRUE(is_preview(sound_preview(tone(0.3).inputs.front())));
  EXPECT_TRUE(is_preview(sound_preview(tone(20).inputs.front())));
  EXPECT_EQ(sound_preview(tone(0.01).inputs.front()), "");  // shorter than a frame
  const Value features{.text = "a.npy", .numbers = Tensor(Shape{50, 13}, Real{1}), .frame_seconds = 0.01};
  EXPECT_TRUE(is_preview(sound_preview(features)));
}

TEST(Recognition, ReportsTheErrorsAsScliteDoes) {
  const Job& job = job_named("recognition");
  std::vector<Sample> samples{tone(0.1, "a.wav"), tone(0.1, "b.wav")};
  samples[0].outputs = {"the cat sat"}, samples[1].outputs = {"yes"};
  const std::vector<std::string> outputs{"the bat", "yes"};
  const std::string report = job.report(outputs, samples);
  EXPECT_NE(report.find("words: 2 right, 1 replaced, 1 left out, 0 put in"), std::string::npos) << report;
  EXPECT_NE(report.find("a.wav\nScores: (#C #S #D #I) 1 1 1 0"), std::string::npos) << report;
  EXPECT_EQ(report.find("b.wav"), std::string::npos);
}

}  // namespace
}  // namespace heed::test
