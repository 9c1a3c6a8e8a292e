#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/base/random.h"
#include "models/chooser_cases.h"
#include "models/translation_cases.h"
#include "support/kernel_testing.h"

// Models that are run: in eight bits they say nearly what they say in full, and in either way a sample's numbers do not
// depend on the samples beside it.

namespace heed::test {
namespace {

constexpr Index kWidth = 16;  // four heads of four

struct RunModel {
  RunModel(const SystemVariant& variant, bool int8) {
    const std::unique_ptr<Config> config = tiny_config(variant, kWidth);
    Parameters random(3);
    const auto drawn = make_writer(variant.system, Scope(random), *config);
    randomise(random, 3, 0.3);
    parameters.give([&random](const std::string& name, const Shape&) { return random.at(name).value(); });
    if (int8) parameters.round_to_int8();
    model = make_writer(variant.system, Scope(parameters), *config);
    parameters.give({});
  }
  Index rounded() const {
    return std::count_if(parameters.entries().begin(), parameters.entries().end(),
                         [](const Parameters::Entry& entry) { return entry.var.held_in_int8() != nullptr; });
  }
  Parameters parameters{3};
  std::unique_ptr<Writer> model;
};

// Sentences of 1 to 9 words.
std::vector<std::vector<std::int32_t>> random_sentences(Index count) {
  RandomSequence random(RandomKey{5, 0});
  std::vector<std::vector<std::int32_t>> result;
  for (Index i = 0; i < count; ++i) {
    auto& words = result.emplace_back();
    const int length = 1 + static_cast<int>(random.uniform() * 9);
    for (int k = 0; k < length; ++k)
      words.push_back(static_cast<std::int32_t>(3 + random.uniform() * (kSourceWords - 3)));
  }
  return result;
}

// What two steps give for each sentence: logits of the words, then weights without those of the padding.
std::vector<std::vector<Real>> two_steps(const Writer& model, const SystemVariant& variant,
                                         const std::vector<std::vector<std::int32_t>>& words) {
  const NoGradient running;
  const Source source = as_read_by(variant, sentences(words));
  const Index batch = source.batch();
  const auto decoding = model.start(source);
  std::vector<std::vector<Real>> result(words.size());
  for (const std::int32_t previous : {1, 4}) {
    const Decoding::Step step = decoding->step(Ids(Shape{batch}, previous));
    const Tensor scores = step.log_probabilities().contiguous();
    const Tensor weights = step.weights ? step.weights.contiguous() : Tensor();
    for (Index b = 0; b < batch; ++b) {
      std::vector<Real>& own = result[static_cast<std::size_t>(b)];
      own.insert(own.end(), scores.data() + b * scores.size(1), scores.data() + (b + 1) * scores.size(1));
      if (!weights) continue;
      const Real* row = weights.data() + b * weights.size(1);
      own.insert(own.end(), row, row + words[static_cast<std::size_t>(b)].size());
    }
  }
  return result;
}

class RunSystem : public testing::TestWithParam<SystemVariant> {};
INSTANTIATE_TEST_SUITE_P(Writers, RunSystem, testing::ValuesIn(every_system()),
                         [](const auto& at) { return at.param.name(); });

TEST_P(RunSystem, InEightBitsSaysNearlyTheSame) {
  const RunModel whole(GetParam(), false), rounded(GetParam(), true);
  EXPECT_EQ(whole.rounded(), 0);
  EXPECT_GT(rounded.rounded(), 2);
  const auto words = random_sentences(8);
  const auto want = two_steps(*whole.model, GetParam(), words), got = two_steps(*rounded.model, GetParam(), words);
  double squares = 0, size = 0, count = 0;
  for (std::size_t b = 0; b < words.size(); ++b)
    for (std::size_t i = 0; i < want[b].size(); ++i, ++count) {
      squares += std::pow(static_cast<double>(got[b][i]) - static_cast<double>(want[b][i]), 2);
      size += std::pow(static_cast<double>(want[b][i]), 2);
    }
  EXPECT_GT(squares, 0);  // something was rounded
  EXPECT_LE(std::sqrt(squares / count), 0.05 * std::sqrt(size / count));
}

TEST_P(RunSystem, SentencesAreTheSameAloneAndTogether) {
  for (const bool int8 : {false, true}) {
    const RunModel run(GetParam(), int8);
    const auto words = random_sentences(64);
    const auto together = two_steps(*run.model, GetParam(), words);
    for (std::size_t b = 0; b < words.size(); ++b) {
      SCOPED_TRACE(testing::Message() << (int8 ? "int8" : "float") << ", sentence " << b);
      const auto alone = two_steps(*run.model, GetParam(), {words[b]});
      expect_same(alone.front(), together[b]);
      if (testing::Test::HasFailure()) return;
    }
    for (const std::size_t size : {2, 7, 33}) {
      const auto some = two_steps(*run.model, GetParam(), {words.begin(), words.begin() + static_cast<Index>(size)});
      for (std::size_t b = 0; b < size; ++b) expect_same(some[b], together[b]);
    }
  }
}

class RunChooser : public testing::TestWithParam<ChooserVariant> {};
INSTANTIATE_TEST_SUITE_P(Choosers, RunChooser, testing::ValuesIn(every_chooser_variant()),
                         [](const auto& at) { return test_name(at.param); });

std::vector<Real> scores_of(const Chooser& chooser, const std::vector<Source>& texts) {
  const NoGradient running;
  const Tensor scores = chooser.forward(texts).scores.value().contiguous();
  return {scores.data(), scores.data() + scores.size()};
}

TEST_P(RunChooser, SamplesAreTheSameAloneAndTogether) {
  const TinyChooser whole(GetParam());
  const auto rounded = TinyChooser::in_eight_bits(GetParam());
  EXPECT_TRUE(rounded->parameters.in_int8());
  EXPECT_FALSE(whole.parameters.in_int8());
  const std::vector<Source> texts = some_texts(GetParam());
  const Index batch = texts.front().batch();
  for (const Chooser* chooser : {whole.chooser, rounded->chooser}) {
    SCOPED_TRACE(chooser == whole.chooser ? "float" : "int8");
    const std::vector<Real> together = scores_of(*chooser, texts);
    const Index labels = static_cast<Index>(together.size()) / batch;
    for (Index b = 0; b < batch; ++b) {
      const std::vector<Real> alone = scores_of(*chooser, only_sample(texts, b));
      expect_same(alone, std::span(together).subspan(static_cast<std::size_t>(b * labels), alone.size()));
    }
  }
  const std::vector<Real> want = scores_of(*whole.chooser, texts), got = scores_of(*rounded->chooser, texts);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(want[i])) continue;
    EXPECT_NEAR(static_cast<double>(got[i]), static_cast<double>(want[i]), 0.2);
  }
}

}  // namespace
}  // namespace heed::test
