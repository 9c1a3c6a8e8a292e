#include "heed/jobs/quality.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/file.h"
#include "heed/trace/merge.h"
#include "support/messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

const char *const kSources = "a b c\nb c\nc a a b\n", *const kTargets = "x y z\ny z\nz x x\n";

class QualityTest : public testing::Test {
 protected:
  QualityTest() {
    put("s", kSources);
    put("t", kTargets);
    put("links", "0-0 1-1 2-2\n0-0 1-1\n0-0 1?1\n");
  }
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  void put(const char* name, const char* text) const { write_file(file(name), text); }
  TestSet read(const char* target, const std::string& gold = "", Index first = 0) const {
    return read_test_set(job_named("translation"), {.files = {file("s"), file(target)}, .format = "lines"}, gold,
                         first);
  }
  // A model with the weights it was born with.
  static Runner runner(const std::string& system, const std::map<std::string, std::string>& settings = {}) {
    test::TinyBundle tiny{
        .system = system, .settings = settings, .texts = {kSources, kTargets}, .deviation = 0, .seed = 3};
    return {std::make_shared<const Bundle>(make_tiny(tiny)), system, 1, [](const std::string&) {}};
  }
  // What a model sees between words where it reads the given outputs.
  static std::vector<WordAlignment> alignments(Runner& runner, std::span<const Sample> samples) {
    std::vector<WordAlignment> list;
    for (const Trace& trace : runner.explain(samples)) list.push_back(alignment_of(without_end(by_words(trace))));
    return list;
  }

  TemporaryFolder folder_;
};

TEST_F(QualityTest, ReadsLinesAndLinks) {
  const TestSet test = read("t", file("links"));
  ASSERT_EQ(test.samples.size(), 3u);
  EXPECT_EQ(test.samples[0].inputs.front().text, "a b c");
  EXPECT_EQ(test.samples[1].inputs.front().text, "b c");
  EXPECT_EQ(test.samples[2].inputs.front().text, "c a a b");
  EXPECT_EQ(test.samples.back().outputs, (std::vector<std::string>{"z x x"}));
  ASSERT_EQ(test.gold.size(), 3u);
  EXPECT_EQ(test.gold[2].sure.size(), 1u);
  EXPECT_EQ(test.gold[2].possible.size(), 2u);
  EXPECT_EQ(test.report, "");
  EXPECT_TRUE(read("t").gold.empty());
  put("from-one", "1-1 2-2 3-3\n1-1 2-2\n1-1 2?2\n");
  const TestSet same = read("t", file("from-one"), 1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(same.gold[i].possible, test.gold[i].possible) << i;
}

TEST_F(QualityTest, SaysWhatDoesNotFit) {
  put("short", "x\n");
  put("nothing", "");
  put("wrong", "0-0\n0-0\n0:0\n");
  put("gap", "x\n\ny\n");
  const auto message = [this](const char* target, const char* gold) {
    return test::message_of([&] { read(target, *gold ? file(gold) : ""); });
  };
  EXPECT_EQ(message("short", "").find(file("s") + ":2: the file beside it has fewer lines; 2 of 3 have no partner"),
            0u);
  EXPECT_EQ(message("nothing", "").find(file("s") + ":1: the file beside it has fewer lines; 3 of 3 have no partner"),
            0u);
  EXPECT_EQ(message("t", "short"), file("short") + ": it has 1 lines, but there are 3 samples");
  EXPECT_EQ(message("t", "wrong").find(file("wrong") + ", line 3: "), 0u);
  // A sample that cannot be used is told of; links could not be counted past it.
  EXPECT_EQ(read("gap").samples.size(), 2u);
  EXPECT_EQ(read("gap").report.find("3 samples, 2 used\n  1 left out, a side is empty: "), 0u);
  EXPECT_EQ(message("gap", "links").find(file("links") + ": its lines cannot be matched with the samples"), 0u);
  put("s", "\n\n\n");
  EXPECT_EQ(message("t", "").find("3 of 3 samples cannot be used (--allow-bad-lines goes on without them): "), 0u);
}

TEST_F(QualityTest, EntropyCountsTheEndAsAPlace) {
  const WordAlignment alignment{{"a", "b"}, {"x", "y", "z"}, Tensor(Shape{3, 2}, {1, 0, 0.5, 0.5, 0.25, 0.25})};
  // Certain; one of two; and of the last word half lies on the end.
  const double expected = (0 + std::log(2.0) + 1.5 * std::log(2.0)) / 3;
  EXPECT_NEAR(alignment_entropy(alignment), expected, 1e-6);
}

TEST_F(QualityTest, AlignmentOfWhatWasWrittenIsThatOfTheSearch) {
  for (const auto& [name, reads] :
       {std::pair{"rnnsearch", false}, {"luong", false}, {"rnnsearch", true}, {"transformer", true}}) {
    Runner model = reads ? runner(name, {{"alignment-reads", "true"}}) : runner(name);
    std::vector<Sample> samples = read("t").samples;
    const auto found = model.run(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].outputs = {found[i].front().text};
    const std::vector<WordAlignment> read = alignments(model, samples);
    for (std::size_t i = 0; i < read.size(); ++i) {
      ASSERT_TRUE(found[i].front().alignment) << name;
      const WordAlignment &ours = read[i], &searched = *found[i].front().alignment;
      ASSERT_EQ(ours.source, searched.source);
      ASSERT_EQ(ours.target, searched.target) << name << ", line " << i;
      for (Index t = 0; t < ours.weights.size(0); ++t)
        for (Index s = 0; s < ours.weights.size(1); ++s)
          EXPECT_NEAR(ours.weights.at({t, s}), searched.weights.at({t, s}), 1e-5) << name << ", line " << i;
    }
  }
}

TEST_F(QualityTest, OnlyAModelThatHasLearntToHasWordsWithoutALink) {
  const test::TinyBundle tiny{.system = "rnnsearch", .texts = {kSources, kTargets}, .deviation = 0, .seed = 3};
  const std::filesystem::path folder = test::make_tiny_folder(folder_.path() / "model", tiny);
  const std::vector<Sample> samples = read("t").samples;
  for (const bool taught : {false, true}) {
    write_file(folder / "training.json", taught ? R"({"options": {"alignment-end": true}})" : R"({"options": {}})");
    Runner model({folder}, 1, [](const std::string&) {});
    for (const Trace& trace : model.explain(samples)) {
      EXPECT_EQ(trace.unlinked_at_end, taught);
      EXPECT_EQ(static_cast<bool>(alignment_without_end(by_words(trace)).ends), taught);
    }
    for (const std::vector<Result>& found : model.run(samples)) {
      ASSERT_TRUE(found.front().alignment);
      EXPECT_EQ(static_cast<bool>(found.front().alignment->ends), taught);
    }
  }
}

TEST_F(QualityTest, AlignmentOfAWordThatWasReadIsTheNextRow) {
  Runner writes = runner("transformer"), reads = runner("transformer", {{"alignment-reads", "true"}});
  const std::vector<Sample> samples = read("t").samples;
  ExplainOptions options;
  options.attentions = true;
  const std::vector<Trace> written = writes.explain(samples, options), then = reads.explain(samples, options);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Tensor &before = written[i].alignment, &after = then[i].alignment;
    const Index end = before.size(0) - 1;
    ASSERT_EQ(after.shape(), before.shape());
    for (Index t = 0; t <= end; ++t)
      for (Index s = 0; s < before.size(1); ++s)
        EXPECT_EQ(after.at({t, s}), before.at({std::min(t + 1, end), s})) << i << ": " << t;
    // What was looked at when is as it was.
    ASSERT_EQ(then[i].attentions.size(), written[i].attentions.size());
    ASSERT_FALSE(written[i].attentions.empty());
    for (std::size_t a = 0; a < written[i].attentions.size(); ++a) {
      const Tensor was = written[i].attentions[a].weights.contiguous(), is = then[i].attentions[a].weights.contiguous();
      ASSERT_EQ(is.shape(), was.shape());
      EXPECT_TRUE(std::equal(was.data(), was.data() + was.size(), is.data())) << written[i].attentions[a].name;
    }
  }
}

TEST_F(QualityTest, MeasuresAttentionOnlyWhereThereIsSome) {
  const TestSet test = read("t", file("links"));
  Runner attending = runner("rnnsearch"), other = runner("seq2seq-lstm");
  const Quality quality = measure_quality(attending, test);
  ASSERT_TRUE(quality.alignment && quality.entropy);
  AlignmentCounts counts;
  const std::vector<WordAlignment> read = alignments(attending, test.samples);
  for (std::size_t i = 0; i < read.size(); ++i)
    counts += compare_alignment(parse_alignment(hard_alignment(read[i])), test.gold[i]);
  EXPECT_DOUBLE_EQ(quality.alignment->error_rate(), counts.error_rate());
  EXPECT_EQ(quality.outputs.size(), 3u);
  // Weights near their beginning spread the probability evenly: three words, unknown, begin and end.
  EXPECT_NEAR(quality.cross_entropy, std::log(6.0), 0.2);
  EXPECT_GT(quality.samples_per_second, 0);
  EXPECT_FALSE(measure_quality(other, test).entropy);
  EXPECT_FALSE(measure_quality(other, test).alignment);
}

TEST_F(QualityTest, LongTextsAreCutForEveryMeasure) {
  Runner model = runner("rnnsearch");
  RunOptions options;
  options.limits.longest = 2;
  put("s", "a b c\nb c\nc a a b\n");
  put("t", "x y\ny z\nz x\n");
  const Quality cut = measure_quality(model, read("t"), options);
  put("s", "a b\nb c\nc a\n");
  const Quality whole = measure_quality(model, read("t"));
  ASSERT_TRUE(cut.entropy && whole.entropy);
  EXPECT_DOUBLE_EQ(*cut.entropy, *whole.entropy);
  EXPECT_DOUBLE_EQ(cut.cross_entropy, whole.cross_entropy);
}

TEST_F(QualityTest, HasTheMetricsOfTheJobInItsOrder) {
  Runner model = runner("rnnsearch");
  const TestSet test = read("t");
  const Quality quality = measure_quality(model, test);
  const std::vector<Metric>& metrics = model.job().metrics;
  ASSERT_EQ(quality.metrics.size(), metrics.size());
  std::vector<std::string> texts;
  for (const Result& output : quality.outputs) texts.push_back(output.text);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    EXPECT_EQ(quality.metrics[i].first, &metrics[i]);
    EXPECT_EQ(quality.metrics[i].second, metrics[i].measure(texts, test.samples)) << metrics[i].name;
  }
}

}  // namespace
}  // namespace heed
