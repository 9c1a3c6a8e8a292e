#include "heed/models/decoder_parts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/reduce.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

AttentionRecord record_of(const Var& weights) { return {{weights}, {}, weights.size(1)}; }

TeacherForced penalised(const AttentionLosses& losses, const AttentionRecord& record, const Var& logits,
                        const Source& previous, std::optional<double> baseline = {}) {
  TeacherForced result;
  result.words = logits;
  add_attention_penalty(losses, record, previous, {.baseline = baseline}, result);
  return result;
}

TEST(AttentionPenalty, CountsWhatIsLookedAtTwice) {
  const Var weights(Tensor({2, 3, 2}, {.5, .5, .25, .75, 1, 0, 1, 0, 1, 0, 1, 0}));
  const Source previous = sentences({{1, 4, 5}, {1, 6}});  // the second sentence's last step is padding
  const Var logits(Tensor({2, 3, 11}, Real{0}));
  AttentionLosses losses;
  EXPECT_FALSE(penalised(losses, record_of(weights), logits, previous).penalty);
  losses.coverage = 2;
  // First sentence: min(.25, .5) + min(.75, .5), then min(1, .75) + 0; second: 1.
  EXPECT_NEAR(penalised(losses, record_of(weights), logits, previous).penalty.value().item(), 2 * (.75 + .75 + 1),
              1e-5);
}

// Better than the other sentence: what was sampled becomes more probable, there and only at real words.
TEST(AttentionPenalty, RewardsSampledPositions) {
  const Source previous = sentences({{1, 4}, {1}});
  Tensor numbers(Shape{2, 2, 11}, Real{0});
  numbers.data()[4] = 3;  // the first sentence's first word is likely
  const Var logits(numbers);
  const Var log_probability = Var::leaf(Tensor({2, 2}, Real{-1})), entropy = Var::leaf(Tensor({2, 2}, Real{1}));
  AttentionRecord record{{Var(Tensor({2, 2, 3}, Real{1}))}, {{0, log_probability, entropy}}, 2};
  const Gradients gradients = backward(penalised({}, record, logits, previous).penalty);
  const double word = 3 - std::log(10 + std::exp(3.0)), flat = -std::log(11.0);
  const double first = word + flat, second = flat;  // the words and the end; the end alone
  const Tensor got = gradients.of(log_probability);
  EXPECT_NEAR(got.at({0, 0}), -0.1 * (first - second), 1e-5);
  EXPECT_NEAR(got.at({0, 1}), -0.1 * (first - second), 1e-5);
  EXPECT_NEAR(got.at({1, 0}), -0.1 * (second - first), 1e-5);
  EXPECT_EQ(got.at({1, 1}), 0);
  EXPECT_NEAR(gradients.of(entropy).at({0, 0}), -0.002, 1e-7);
  EXPECT_EQ(gradients.of(entropy).at({1, 1}), 0);
}

// A text that counts for nothing, or against itself, teaches that about its positions too; entropy is no part of it.
TEST(AttentionPenalty, WeighsWhatRowsTeach) {
  const Source previous = sentences({{1, 4}, {1}});
  Tensor numbers(Shape{2, 2, 11}, Real{0});
  numbers.data()[4] = 3;
  const Var log_probability = Var::leaf(Tensor({2, 2}, Real{-1})), entropy = Var::leaf(Tensor({2, 2}, Real{1}));
  AttentionRecord record{{Var(Tensor({2, 2, 3}, Real{1}))}, {{0, log_probability, entropy}}, 2};
  const auto gradients = [&](const Tensor& row_weights) {
    TeacherForced result;
    result.words = Var(numbers);
    add_attention_penalty({}, record, previous, {.row_weights = row_weights}, result);
    return backward(result.penalty);
  };
  const Tensor plain = gradients({}).of(log_probability);
  const Gradients weighed = gradients(Tensor({2}, {-2, 0}));
  EXPECT_NEAR(weighed.of(log_probability).at({0, 0}), -2 * plain.at({0, 0}), 1e-6);
  EXPECT_EQ(weighed.of(log_probability).at({1, 0}), 0);
  EXPECT_NEAR(weighed.of(entropy).at({1, 0}), -0.002, 1e-7);
}

// The baseline per word is counted once for each of a sentence's words; the weights are those that are asked for.
TEST(AttentionPenalty, AMovingBaselineIsPerWord) {
  const Source previous = sentences({{1, 4}, {1}});
  const Var logits(Tensor(Shape{2, 2, 11}, Real{0}));
  const Var log_probability = Var::leaf(Tensor({2, 2}, Real{-1})), entropy = Var::leaf(Tensor({2, 2}, Real{1}));
  const AttentionRecord record{{Var(Tensor({2, 2, 3}, Real{1}))}, {{0, log_probability, entropy}}, 2};
  const AttentionLosses losses{.sampling = {.reward_weight = 0.5, .entropy_weight = 0.25}, .baseline = "moving"};
  const double flat = -std::log(11.0), baseline = -1.5;
  const TeacherForced forced = penalised(losses, record, logits, previous, baseline);
  EXPECT_NEAR(forced.reward.total, 3 * flat, 1e-5);
  EXPECT_EQ(forced.reward.words, 3);
  const Gradients gradients = backward(forced.penalty);
  const Tensor got = gradients.of(log_probability);
  EXPECT_NEAR(got.at({0, 0}), -0.5 * 2 * (flat - baseline), 1e-5);
  EXPECT_NEAR(got.at({0, 1}), -0.5 * 2 * (flat - baseline), 1e-5);
  EXPECT_NEAR(got.at({1, 0}), -0.5 * (flat - baseline), 1e-5);
  EXPECT_EQ(got.at({1, 1}), 0);
  EXPECT_NEAR(gradients.of(entropy).at({1, 0}), -0.25, 1e-6);
  // Not known yet, or not asked for: the other sentence is the baseline.
  const AttentionLosses batch{.sampling = losses.sampling, .baseline = "batch"};
  EXPECT_NEAR(backward(penalised(losses, record, logits, previous).penalty).of(log_probability).at({0, 0}), -0.5 * flat,
              1e-5);
  EXPECT_NEAR(backward(penalised(batch, record, logits, previous, baseline).penalty).of(log_probability).at({0, 0}),
              -0.5 * flat, 1e-5);
}

TEST(HardAttention, LearnsFromItsChoices) {
  for (const char* system : {"rnnsearch", "luong"}) {
    for (const bool sampled : {true, false}) {
      const TinyModel tiny(
          {system, {{"normaliser", "hard"}, {"score", "additive"}, {"soft-mixing", sampled ? "0" : "1"}}});
      Random random(4);
      const TeacherForced forced = tiny.model->forward(some_sources(), some_previous(), {.random = &random});
      ASSERT_EQ(static_cast<bool>(forced.penalty), sampled) << system;
      if (!sampled) continue;
      const Tensor gradient = backward(forced.penalty).of(tiny.parameters.at("attention.score.v"));
      EXPECT_GT(distance(gradient, Tensor(gradient.shape(), Real{0})), 0) << system;
    }
  }
}

TEST(Copying, IsADistributionOverOneVocabulary) {
  for (const char* system : {"rnnsearch", "luong", "convs2s", "transformer"}) {
    TinyModel tiny({system, {{"copy", "true"}}});
    const Tensor logits = tiny.model->forward(some_sources(), some_previous()).words.logits().value().contiguous();
    for (Index row = 0; row < logits.size(0) * logits.size(1); ++row) {
      double total = 0;
      for (Index word = 0; word < kTargetWords; ++word)
        total += std::exp(static_cast<double>(logits.data()[row * kTargetWords + word]));
      EXPECT_NEAR(total, 1, 1e-5) << system;
    }
  }
}

TEST(Copying, MixesTheGeneratorAndTheSource) {
  const Source source = sentences({{7, 3, 7, 2}}), previous = sentences({{1, 4}});
  TinyModel tiny({"rnnsearch", {{"copy", "true"}}}), generator({"rnnsearch", {}});
  copy_values(tiny.parameters, generator.parameters);
  const auto log_probabilities = [&](const TinyModel& model) {
    return log_probabilities_of(model.model->forward(source, previous).words.logits().value().contiguous());
  };
  set(tiny.parameters, "copy.bias", {1000});
  EXPECT_LE(distance(log_probabilities(tiny), log_probabilities(generator)), 1e-5);
  set(tiny.parameters, "copy.bias", {-1000});
  const TeacherForced copied = tiny.model->forward(source, previous, {.alignment = true});
  const Tensor weights = copied.alignment.value().contiguous(), logits = copied.words.logits().value().contiguous();
  for (Index t = 0; t < 2; ++t) {
    EXPECT_NEAR(std::exp(logits.at({0, t, 7})), weights.at({0, t, 0}) + weights.at({0, t, 2}), 1e-5);
    EXPECT_NEAR(std::exp(logits.at({0, t, 3})), weights.at({0, t, 1}), 1e-5);
    EXPECT_NEAR(std::exp(logits.at({0, t, 5})), 0, 1e-5);
  }
}

// Words 11, 12, ... are not in the vocabulary of 11: each sentence has its own.
Source copied_sources() {
  Source source = sentences({{3, 0, 4, 0, 2}, {2}, {0, 6, 2}});
  source.copies = sentences({{3, 11, 4, 12, 2}, {2}, {11, 6, 2}}).words;
  source.known = kSourceWords, source.extended = kSourceWords + 2;
  return source;
}

const std::vector<std::string> kCopying{"rnnsearch", "luong", "convs2s", "transformer"};

TEST(Copying, IsADistributionOverTheExtendedVocabulary) {
  for (const std::string& system : kCopying) {
    TinyModel tiny({system, {{"copy", "true"}}});
    ASSERT_TRUE(tiny.model->copies());
    const TeacherForced forced = tiny.model->forward(copied_sources(), some_previous(), {.alignment = true});
    const Tensor logits = forced.words.logits().value().contiguous(), weights = forced.alignment.value().contiguous(),
                 generates = forced.words.generates().value().contiguous();
    ASSERT_EQ(logits.shape(), (Shape{3, 4, kTargetWords + 2})) << system;
    for (Index b = 0; b < 3; ++b)
      for (Index t = 0; t < 4; ++t) {
        double total = 0;
        for (Index word = 0; word < kTargetWords + 2; ++word)
          total += std::exp(static_cast<double>(logits.at({b, t, word})));
        EXPECT_NEAR(total, 1, 1e-5) << system;
      }
    // The generator cannot write them: what is there was copied.
    const double copied = 1 - static_cast<double>(generates.at({0, 1}));
    EXPECT_NEAR(std::exp(logits.at({0, 1, 11})), copied * static_cast<double>(weights.at({0, 1, 1})), 1e-6) << system;
    EXPECT_NEAR(std::exp(logits.at({0, 1, 12})), copied * static_cast<double>(weights.at({0, 1, 3})), 1e-6) << system;
    EXPECT_LT(std::exp(logits.at({1, 1, 11})), 1e-9) << system;  // not in that sentence
  }
}

// The loss asks for the expected words alone.
TEST(Copying, LosesWhatItsLogitsLose) {
  for (const std::string& system : kCopying) {
    const TinyModel tiny({system, {{"copy", "true"}}});
    const Source previous = some_previous();
    const WordScores words = tiny.model->forward(copied_sources(), previous).words;
    Ids expected = expected_after(previous);
    expected.data()[0] = 11, expected.data()[1] = 12;
    for (const bool average : {true, false})
      EXPECT_NEAR(static_cast<double>(words.cross_entropy(expected, {.average = average}).value().item()),
                  static_cast<double>(cross_entropy(words.logits(), expected, {.average = average}).value().item()),
                  1e-4)
          << system;
  }
}

// A word that was copied is read as the unknown word, and steps give what forward gives.
TEST(Copying, StepsReadCopiedWordsAsUnknownOnes) {
  for (const std::string& system : kCopying) {
    const TinyModel tiny({system, {{"copy", "true"}}});
    const Source source = copied_sources(), previous = sentences({{1, 0}, {1, 4}, {1, 0}});
    const TeacherForced forced = tiny.model->forward(source, previous);
    const Tensor whole = forced.words.logits().value().contiguous();
    const auto decoding = tiny.model->start(source);
    decoding->step(ids({1, 1, 1}));
    const Decoding::Step step = decoding->step(ids({12, 4, 11}));
    ASSERT_EQ(step.words.shape(), (Shape{3, kTargetWords + 2})) << system;
    ASSERT_EQ(step.generates.shape(), (Shape{3})) << system;
    for (Index b = 0; b < 3; ++b) {
      EXPECT_NEAR(step.generates.at({b}), forced.words.generates().value().at({b, 1}), 1e-5) << system;
      for (Index word = 0; word < kTargetWords; ++word)
        EXPECT_NEAR(step.words.at({b, word}), whole.at({b, 1, word}), 1e-4) << system;
    }
  }
}

TEST(RealWords, ReplaceThePadding) {
  const Source given = sentences({{3, 4, 5}, {6}}, -7);
  const Ids words = real_words(given), by_time = real_words_by_time(given);
  EXPECT_EQ(std::vector<std::int32_t>(words.data(), words.data() + 6), (std::vector<std::int32_t>{3, 4, 5, 6, 0, 0}));
  EXPECT_EQ(by_time.shape(), (Shape{3, 2}));
  EXPECT_EQ(std::vector<std::int32_t>(by_time.data(), by_time.data() + 6),
            (std::vector<std::int32_t>{3, 6, 4, 0, 5, 0}));
}

}  // namespace
}  // namespace heed::test
