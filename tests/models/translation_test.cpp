#include "heed/models/system.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/loss.h"
#include "heed/kernels/softmax.h"
#include "heed/nn/word_screen.h"
#include "heed/train/optimiser.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

class EveryVariant : public testing::TestWithParam<SystemVariant> {};
INSTANTIATE_TEST_SUITE_P(Writers, EveryVariant, testing::ValuesIn(every_variant()),
                         [](const auto& at) { return at.param.name(); });
class EverySystem : public testing::TestWithParam<SystemVariant> {};
INSTANTIATE_TEST_SUITE_P(Writers, EverySystem, testing::ValuesIn(every_system()),
                         [](const auto& at) { return at.param.name(); });

// Row b, step t of [batch, n, width].
Tensor row(const Tensor& x, Index b, Index t) {
  return x.slice(0, b, b + 1).slice(1, t, t + 1).contiguous().reshape(Shape{x.size(2)});
}
Tensor row(const Tensor& x, Index b) { return x.slice(0, b, b + 1).contiguous().reshape(Shape{x.size(1)}); }
Source only(const Source& all, Index b) {
  const Index length = all.lengths.data()[b];
  const auto part = [&](const auto& x) { return x ? x.slice(0, b, b + 1).slice(1, 0, length).contiguous() : x; };
  return {.words = part(all.words),
          .lengths = Ids(Shape{1}, static_cast<std::int32_t>(length)),
          .features = part(all.features)};
}
Ids word(const Source& sentences, Index t) {
  return sentences.words.slice(1, t, t + 1).contiguous().reshape(Shape{sentences.batch()});
}
Tensor log_probabilities(const TeacherForced& forced) {
  const Tensor logits = forced.words.logits().value().contiguous();
  return log_probabilities_of(logits.reshape(Shape{logits.size(0) * logits.size(1), logits.size(2)}))
      .reshape(logits.shape());
}

TEST_P(EveryVariant, RepeatedStepsAreForward) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources()), previous = some_previous();
  const TeacherForced forced = tiny.model->forward(source, previous, {.alignment = true});
  const Tensor whole = log_probabilities(forced);
  const auto decoding = tiny.model->start(source);
  for (Index t = 0; t < previous.longest(); ++t) {
    const Decoding::Step step = decoding->step(word(previous, t));
    ASSERT_EQ(static_cast<bool>(step.weights), static_cast<bool>(forced.alignment));
    for (Index b = 0; b < previous.batch(); ++b) {
      if (t >= previous.lengths.data()[b]) continue;
      EXPECT_LE(distance(row(step.log_probabilities(), b), row(whole, b, t)), 1e-5)
          << "sentence " << b << " step " << t;
      if (!step.weights) continue;
      EXPECT_LE(distance(row(step.weights, b), row(forced.alignment.value(), b, t)), 1e-6);
    }
  }
}

// Greedy search with a screen goes the same way: the word that a step tells is the first of the largest logits.
TEST_P(EveryVariant, TheLikeliestWordIsThatOfAllScores) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources());
  Source screened = source;
  screened.screen =
      std::make_shared<WordScreen>(WordScreen::Limits{.rows_before = source.batch(), .least_weights = 0, .share = 1});
  const auto plain = tiny.model->start(source), quick = tiny.model->start(screened);
  Ids previous = ids({1, 1, 1});
  Index told = 0;
  for (int t = 0; t < 6; ++t) {
    const Decoding::Step all = plain->step(previous), step = quick->step(previous);
    const Tensor words = all.words.contiguous();
    Ids next(Shape{source.batch()});
    for (Index row = 0; row < source.batch(); ++row)
      next.data()[row] =
          static_cast<std::int32_t>(kernels::largest_place(words.size(1), words.data() + row * words.size(1)));
    if (step.likeliest) {
      ++told;
      EXPECT_FALSE(step.words);
      for (Index row = 0; row < source.batch(); ++row) EXPECT_EQ(step.likeliest.data()[row], next.data()[row]);
    } else {
      EXPECT_EQ(distance(step.words, all.words), 0);
    }
    ASSERT_EQ(static_cast<bool>(step.weights), static_cast<bool>(all.weights));
    if (all.weights) {
      EXPECT_EQ(distance(step.weights, all.weights), 0);
    }
    previous = next;
  }
  // The first step is one of rows before. Captions, sounds and copied words have no screen.
  const std::string& system = GetParam().system;
  const bool has_one = system != "show-attend-tell" && system != "listener" && !plain->step(previous).generates;
  EXPECT_EQ(told, has_one ? 5 : 0);
}

// The loss of scores that are never there together is that of the logits.
TEST_P(EveryVariant, LosesWhatItsLogitsLose) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources()), previous = some_previous();
  const WordScores words = tiny.model->forward(source, previous).words;
  const Ids expected = expected_after(previous);
  EXPECT_EQ(words.vocabulary(), kTargetWords);
  const CrossEntropy options{.label_smoothing = 0.1, .average = false};
  EXPECT_NEAR(static_cast<double>(words.cross_entropy(expected, options).value().item()),
              static_cast<double>(cross_entropy(words.logits(), expected, options).value().item()), 1e-4);
}

TEST_P(EveryVariant, RowsAreChosenRepeatedAndDropped) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources());
  const auto decoding = tiny.model->start(source);
  decoding->step(ids({1, 1, 1}));
  decoding->select(ids({2, 0, 0, 2}));
  ASSERT_EQ(decoding->rows(), 4);
  decoding->step(ids({4, 5, 6, 7}));
  decoding->select(ids({1, 2, 0}));
  const Tensor chosen = decoding->step(ids({3, 8, 9})).log_probabilities();
  const std::vector<std::pair<Index, std::vector<std::int32_t>>> same{{0, {1, 5, 3}}, {0, {1, 6, 8}}, {2, {1, 4, 9}}};
  for (Index i = 0; i < 3; ++i) {
    const auto& [sentence, words] = same[static_cast<std::size_t>(i)];
    const auto fresh = tiny.model->start(only(source, sentence));
    Tensor last;
    for (const std::int32_t id : words) last = fresh->step(ids({id})).log_probabilities();
    EXPECT_LE(distance(row(chosen, i), row(last, 0)), 1e-5) << "row " << i;
  }
}

TEST_P(EveryVariant, ASentenceDoesNotKnowItsNeighbours) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources()), previous = some_previous();
  const Tensor together = log_probabilities(tiny.model->forward(source, previous));
  for (Index b = 0; b < source.batch(); ++b) {
    const Tensor alone = log_probabilities(tiny.model->forward(only(source, b), only(previous, b)));
    for (Index t = 0; t < alone.size(1); ++t)
      EXPECT_LE(distance(row(together, b, t), row(alone, 0, t)), 1e-5) << "sentence " << b << " step " << t;
  }
}

// As if each text had a source of its own, in what is computed and in what is learnt.
TEST_P(EveryVariant, ASourceMayHaveSeveralTexts) {
  const TinyModel tiny(GetParam());
  const Source texts = sentences({{1, 4, 8, 5}, {1}, {1, 9, 10, 3, 6}, {1, 7, 7}, {1, 3}, {1, 6, 2, 4}});
  const std::vector<std::vector<std::int32_t>> words{{3, 7, 4, 9, 2}, {5, 2}, {8, 8, 6, 2}};
  std::vector<std::vector<std::int32_t>> repeated;
  for (const auto& each : words) repeated.insert(repeated.end(), {each, each});
  const Source shared = as_read_by(GetParam(), sentences(words)), own = as_read_by(GetParam(), sentences(repeated));
  const auto forced = [&](const Source& source) { return tiny.model->forward(source, texts, {.alignment = true}); };
  const auto gradients = [&](const Source& source) {
    return backward(forced(source).words.cross_entropy(expected_after(texts), {.average = false}));
  };
  {
    const NoGradient off;
    const TeacherForced a = forced(shared), b = forced(own);
    EXPECT_LE(distance(log_probabilities(a), log_probabilities(b)), 1e-5);
    ASSERT_EQ(static_cast<bool>(a.alignment), static_cast<bool>(b.alignment));
    if (a.alignment) {
      EXPECT_LE(distance(a.alignment.value(), b.alignment.value()), 1e-6);
    }
  }
  const Gradients a = gradients(shared), b = gradients(own);
  for (const Parameters::Entry& each : tiny.parameters.entries())
    EXPECT_LE(distance(a.of(each.var), b.of(each.var)), 1e-4) << each.name;
  EXPECT_THROW(tiny.model->forward(shared, sentences({{1, 4}, {1}, {1}, {1, 2}})), Error);
}

TEST_P(EveryVariant, WhatStandsInThePaddingDoesNotMatter) {
  const TinyModel tiny(GetParam());
  const Tensor a = log_probabilities(tiny.model->forward(as_read_by(GetParam(), some_sources(0)), some_previous(0)));
  const Tensor b = log_probabilities(tiny.model->forward(as_read_by(GetParam(), some_sources(10)), some_previous(7)));
  const Source previous = some_previous();
  for (Index i = 0; i < a.size(0); ++i)
    for (Index t = 0; t < previous.lengths.data()[i]; ++t) EXPECT_TRUE(same_bits(row(a, i, t), row(b, i, t)));
}

TEST_P(EveryVariant, AWordDoesNotKnowThoseAfterIt) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), sentences({{3, 7, 4, 9, 2}, {5, 2}}));
  const Source one = sentences({{1, 4, 8, 5, 3}, {1, 9, 10, 3, 6}});
  const Tensor before = tiny.model->forward(source, one).words.logits().value().contiguous();
  for (Index t = 1; t < 5; ++t) {
    Source other{one.words.copy(), one.lengths};
    other.words.data()[t] = 6, other.words.data()[5 + t] = 7;
    const Tensor after = tiny.model->forward(source, other).words.logits().value().contiguous();
    for (Index b = 0; b < 2; ++b) {
      for (Index i = 0; i < t; ++i) EXPECT_TRUE(same_bits(row(before, b, i), row(after, b, i))) << t << " at " << i;
      EXPECT_GT(distance(row(before, b, t), row(after, b, t)), 0) << t;
    }
  }
}

TEST_P(EveryVariant, NamesWhatATraceHas) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources()), previous = some_previous();
  std::vector<AttentionOfBatch> trace, alone;
  const TeacherForced forced = tiny.model->forward(source, previous, {.alignment = true, .trace = &trace});
  const TeacherForced unwanted = tiny.model->forward(source, previous, {.words = false, .trace = &alone});
  EXPECT_FALSE(unwanted.words);
  const std::vector<AttentionShape> shapes = tiny.model->attentions();
  ASSERT_EQ(trace.size(), shapes.size());
  ASSERT_EQ(alone.size(), shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(trace[i].name, shapes[i].name);
    EXPECT_EQ(trace[i].weights.size(1), shapes[i].heads) << shapes[i].name;
    EXPECT_LE(distance(trace[i].weights, alone[i].weights), 1e-6) << shapes[i].name;
  }
  if (shapes.size() != 1) return;
  const Tensor weights = trace.front().weights.contiguous();
  EXPECT_TRUE(same_bits(weights.reshape(forced.alignment.shape()), forced.alignment.value().contiguous()));
}

TEST_P(EveryVariant, RowsOfTheAlignmentSumToOne) {
  const auto setting = [&](const char* name) {
    const auto found = GetParam().settings.find(name);
    return found == GetParam().settings.end() ? std::string() : found->second;
  };
  // A predicted window's gain and a scan that may pass the end leave less than one.
  const bool may_lose = setting("window") == "local-p" || setting("normaliser") == "monotonic";
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources()), previous = some_previous();
  std::vector<AttentionOfBatch> trace;
  const TeacherForced forced = tiny.model->forward(source, previous, {.alignment = true, .trace = &trace});
  EXPECT_EQ(trace.empty(), !forced.alignment);
  if (!forced.alignment) return;
  const Tensor weights = forced.alignment.value().contiguous();
  ASSERT_EQ(weights.shape(), (Shape{3, previous.longest(), source.longest()}));
  for (Index b = 0; b < 3; ++b) {
    for (Index t = 0; t < previous.lengths.data()[b]; ++t) {
      const Tensor now = row(weights, b, t);
      double total = 0;
      for (Index j = 0; j < now.size(); ++j) {
        EXPECT_GE(now.data()[j], 0);
        if (j >= source.lengths.data()[b]) {
          EXPECT_EQ(now.data()[j], 0);
        }
        total += static_cast<double>(now.data()[j]);
      }
      // A window by position may lie wholly beyond a short source.
      const bool nothing_seen = total == 0 && !setting("window").empty();
      if (may_lose) {
        EXPECT_LE(total, 1 + 1e-5);
      } else if (!nothing_seen) {
        EXPECT_NEAR(total, 1, 1e-5);
      }
    }
  }
}

TEST_P(EveryVariant, TrainingIsReproducibleAndDropsNumbers) {
  SystemVariant variant = GetParam();
  variant.settings["dropout"] = "0.5";
  const TinyModel tiny(variant);
  const auto logits = [&](std::uint64_t seed) {
    Random random(seed);
    return tiny.model->forward(as_read_by(GetParam(), some_sources()), some_previous(), {.random = &random})
        .words.logits()
        .value()
        .contiguous();
  };
  EXPECT_TRUE(same_bits(logits(1), logits(1)));
  EXPECT_GT(distance(logits(1), logits(2)), 0);
}

// Eight pairs that no rule connects, learnt by heart.
TEST_P(EverySystem, LearnsAFewPairsByHeart) {
  SystemVariant variant = GetParam();
  // No two are the same words in another order: to a model that knows no places these are one image.
  const Source source = as_read_by(variant, sentences({{3, 4, 2},
                                                       {4, 3, 3, 2},
                                                       {5, 6, 7, 2},
                                                       {7, 6, 5, 5, 2},
                                                       {8, 2},
                                                       {9, 10, 2},
                                                       {10, 9, 8, 2},
                                                       {3, 5, 7, 9, 2}}));
  const Source previous =
      sentences({{1, 5, 6}, {1, 6, 5}, {1, 9}, {1, 9, 9, 4}, {1, 3, 10, 7}, {1, 7}, {1, 8, 4, 4}, {1, 10, 3, 6, 6}});
  const Ids expected = expected_after(previous);
  const auto config = tiny_config(variant, 8);
  Parameters parameters(3);
  const auto model = make_writer(variant.system, Scope(parameters), *config);
  Optimiser optimiser;
  double loss = 0;
  int step = 0;
  for (; step < 400; ++step) {
    Random random(1);
    const Var now = model->forward(source, previous, {.random = &random}).words.cross_entropy(expected);
    loss = static_cast<double>(now.value().item());
    if (loss < 0.02) break;
    optimiser.step(parameters, backward(now), Real{0.02F});
  }
  EXPECT_LT(loss, 0.02) << "after " << step << " steps";
}

TEST(Systems, HaveTheirPresetsAndPapers) {
  for (const System& system : systems()) {
    for (const char* preset : {"paper", "small"})
      EXPECT_NE(std::find(system.presets.begin(), system.presets.end(), preset), system.presets.end()) << system.name;
    EXPECT_FALSE(system.summary.empty() || system.paper.empty()) << system.name;
  }
}

}  // namespace
}  // namespace heed::test
