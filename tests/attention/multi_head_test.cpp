#include "heed/attention/multi_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attention/composition_cases.h"
#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/shape.h"

namespace heed::test {
namespace {

constexpr Index kModelWidth = 6;

struct AttendingLayer {
  explicit AttendingLayer(Index heads, const char* score = "scaled-dot", const char* window = "global")
      : layer(Scope(parameters), options(heads, score, window)) {
    randomise(parameters, 3);
  }
  static MultiHeadOptions options(Index heads, const char* score, const char* window) {
    MultiHeadOptions o{.width = kModelWidth, .attention = small(composed_of(score, window))};
    o.attention.heads = heads;
    return o;
  }
  MultiHead::Result self(const Var& x, const Ids& lengths = {}) const { return layer(x, layer.memory(x, lengths)); }
  Parameters parameters;
  MultiHead layer;
};

// x W + b in double, position by position.
std::vector<double> mapped(const Parameters& parameters, const std::string& name, const std::vector<double>& x) {
  const Tensor &w = parameters.at(name + ".weight").value(), &b = parameters.at(name + ".bias").value();
  std::vector<double> y(static_cast<std::size_t>(kModelWidth));
  for (Index j = 0; j < kModelWidth; ++j) {
    y[static_cast<std::size_t>(j)] = static_cast<double>(b.at({j}));
    for (Index i = 0; i < kModelWidth; ++i)
      y[static_cast<std::size_t>(j)] += x[static_cast<std::size_t>(i)] * static_cast<double>(w.at({i, j}));
  }
  return y;
}

std::vector<std::vector<double>> rows_of(const Tensor& x, Index sentence, Index count) {
  std::vector<std::vector<double>> rows;
  for (Index i = 0; i < count; ++i) {
    auto& row = rows.emplace_back();
    for (Index d = 0; d < kModelWidth; ++d) row.push_back(static_cast<double>(x.at({sentence, i, d})));
  }
  return rows;
}

TEST(MultiHead, IsTheNaiveComputation) {
  for (const Index heads : {1, 2, 3}) {
    SCOPED_TRACE(heads);
    const AttendingLayer one(heads);
    const Var x(random_tensor(Shape{2, 3, kModelWidth}, 1)), y(random_tensor(Shape{2, 4, kModelWidth}, 2));
    const Ids lengths = ids({4, 2});
    const MultiHead::Result result = one.layer(x, one.layer.memory(y, lengths));
    ASSERT_EQ(result.read.shape(), (Shape{2, 3, 6}));
    const Index width = kModelWidth / heads;
    for (Index b = 0; b < 2; ++b) {
      const Index m = lengths.data()[b];
      std::vector<std::vector<double>> keys, values;
      for (const auto& row : rows_of(y.value(), b, m)) {
        keys.push_back(mapped(one.parameters, "key", row));
        values.push_back(mapped(one.parameters, "value", row));
      }
      const auto asked = rows_of(x.value(), b, 3);
      for (Index i = 0; i < 3; ++i) {
        const std::vector<double> q = mapped(one.parameters, "query", asked[static_cast<std::size_t>(i)]);
        std::vector<double> joined(static_cast<std::size_t>(kModelWidth), 0.);
        for (Index h = 0; h < heads; ++h) {
          std::vector<double> weights;
          double total = 0;
          for (const auto& key : keys) {
            double dot = 0;
            for (Index d = h * width; d < (h + 1) * width; ++d)
              dot += q[static_cast<std::size_t>(d)] * key[static_cast<std::size_t>(d)];
            weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(width))));
            total += weights.back();
          }
          for (std::size_t j = 0; j < weights.size(); ++j) {
            EXPECT_NEAR(static_cast<double>(result.weights.value().at({b, h, i, static_cast<Index>(j)})),
                        weights[j] / total, 1e-5);
            for (Index d = h * width; d < (h + 1) * width; ++d)
              joined[static_cast<std::size_t>(d)] += weights[j] / total * values[j][static_cast<std::size_t>(d)];
          }
        }
        const std::vector<double> read = mapped(one.parameters, "output", joined);
        for (Index d = 0; d < kModelWidth; ++d)
          EXPECT_NEAR(static_cast<double>(result.read.value().at({b, i, d})), read[static_cast<std::size_t>(d)], 1e-5);
      }
    }
  }
}

TEST(MultiHead, OneHeadOfFullWidthIsPlainAttention) {
  AttendingLayer one(1);
  for (const char* map : {"query", "key", "value", "output"}) {
    fill(one.parameters, std::string(map) + ".bias", 0);
    fill(one.parameters, std::string(map) + ".weight", 0);
    Tensor weight = one.parameters.at(std::string(map) + ".weight").value();
    for (Index i = 0; i < kModelWidth; ++i) weight.data()[i * kModelWidth + i] = 1;
  }
  const Instance plain(composed_of("scaled-dot"));
  const Var x(random_tensor(Shape{2, 4, kModelWidth}, 1));
  Query query;
  query.vectors = x;
  const Attended expected = plain.attention(query, plain.attention.memory(x, x, ids({4, 3})));
  const MultiHead::Result result = one.self(x, ids({4, 3}));
  EXPECT_LE(distance(result.read.value(), expected.read.value().reshape(x.shape())), 1e-6);
  EXPECT_LE(distance(result.weights.value(), expected.weights.value()), 1e-6);
}

TEST(MultiHead, WithoutPositionsFollowsAPermutation) {
  const AttendingLayer one(2);
  const Var x(random_tensor(Shape{2, 5, kModelWidth}, 1));
  const Ids order = ids({3, 0, 4, 2, 1});
  EXPECT_LE(distance(gather(one.self(x).read, 1, order).value(), one.self(gather(x, 1, order)).read.value()), 1e-5);
}

TEST(MultiHead, CausalStepsAreBitIdenticalWhateverComesLater) {
  for (const char* score : {"scaled-dot", "relative", "alibi", "rotary", "additive"}) {
    SCOPED_TRACE(score);
    const AttendingLayer one(score == std::string("rotary") ? 3 : 2, score, "causal");
    const Var x(random_tensor(Shape{2, 5, kModelWidth}, 1));
    const Tensor before = one.self(x).read.value();
    Tensor changed = x.value().copy();
    for (Index d = 0; d < kModelWidth; ++d) changed.data()[3 * kModelWidth + d] += 1;
    const Tensor after = one.self(Var(changed)).read.value();
    EXPECT_TRUE(same_bits(before.slice(1, 0, 3), after.slice(1, 0, 3)));
    EXPECT_FALSE(same_bits(before.slice(0, 0, 1).slice(1, 3, 5), after.slice(0, 0, 1).slice(1, 3, 5)));
  }
}

// Decoding: the memory grows by one each step, the query stands at its end.
TEST(MultiHead, StepByStepEqualsTheFullPass) {
  for (const char* window : {"causal", "restricted", "sliding"}) {
    for (const char* score : {"dot", "scaled-dot", "general", "relative", "alibi", "rotary", "additive", "concat"}) {
      SCOPED_TRACE(std::string(score) + " " + window);
      const AttendingLayer one(score == std::string("rotary") ? 3 : 2, score, window);
      const Var x(random_tensor(Shape{2, 5, kModelWidth}, 1));
      const MultiHead::Result full = one.self(x);
      for (Index t = 0; t < 5; ++t) {
        // What looks ahead in the full pass needs its neighbours in the memory.
        const Index known = std::string(window) == "causal" ? t + 1 : 5;
        const MultiHead::Result step = one.layer(slice(x, 1, t, t + 1), one.layer.memory(slice(x, 1, 0, known)), t);
        EXPECT_LE(distance(step.read.value(), slice(full.read, 1, t, t + 1).value()), 1e-5) << "step " << t;
        EXPECT_LE(distance(step.weights.value(), full.weights.value().slice(2, t, t + 1).slice(3, 0, known)), 1e-6);
      }
    }
  }
}

// The same with the memory kept and extended: only the new position is mapped.
TEST(MultiHead, AGrowingMemoryEqualsTheFullPass) {
  for (const char* score : {"dot", "scaled-dot", "general", "relative", "alibi", "rotary", "additive", "concat"}) {
    for (const bool recorded : {false, true}) {
      SCOPED_TRACE(std::string(score) + (recorded ? " recorded" : ""));
      const AttendingLayer one(score == std::string("rotary") ? 3 : 2, score, "causal");
      const Var x = Var::leaf(random_tensor(Shape{2, 9, kModelWidth}, 1));
      const MultiHead::Result full = one.self(x);
      const std::unique_ptr<NoGradient> off = recorded ? nullptr : std::make_unique<NoGradient>();
      Memory memory;
      std::vector<Var> reads;
      for (Index t = 0; t < 9; ++t) {
        const Var now = slice(x, 1, t, t + 1);
        memory = one.layer.extended(memory, now);
        EXPECT_EQ(memory.size(), t + 1);
        const MultiHead::Result step = one.layer(now, memory, t);
        EXPECT_LE(distance(step.weights.value(), full.weights.value().slice(2, t, t + 1).slice(3, 0, t + 1)), 1e-6);
        reads.push_back(step.read);
      }
      const Var together = concat(reads, 1);
      EXPECT_LE(distance(together.value(), full.read.value()), 1e-5);
      if (!recorded) continue;
      const Tensor seed = random_tensor(full.read.shape(), 2);
      Gradients stepwise, whole;
      backward(together, seed, stepwise);
      backward(full.read, seed, whole);
      EXPECT_LE(distance(stepwise.of(x), whole.of(x)), 1e-4);
    }
  }
}

// Two continuations of one memory do not see each other, nor does the memory change under them.
TEST(MultiHead, AMemoryIsAValueThoughItGrowsInPlace) {
  const AttendingLayer one(2);
  const NoGradient off;
  const auto y = [](std::uint64_t seed) { return Var(random_tensor(Shape{2, 1, kModelWidth}, seed)); };
  const Memory start = one.layer.extended(one.layer.extended({}, y(1)), y(2));
  const Memory left = one.layer.extended(start, y(3)), right = one.layer.extended(start, y(4));
  EXPECT_EQ(left.keys.value().data(), start.keys.value().data());  // grown in place
  const auto expect_like = [&](const Memory& memory, const std::vector<std::uint64_t>& seeds) {
    std::vector<Var> parts;
    for (const std::uint64_t seed : seeds) parts.push_back(y(seed));
    const Memory fresh = one.layer.memory(concat(parts, 1));
    EXPECT_LE(distance(memory.keys.value(), fresh.keys.value()), 1e-6);
    EXPECT_LE(distance(memory.values.value(), fresh.values.value()), 1e-6);
    EXPECT_EQ(memory.lengths.at({1}), static_cast<std::int32_t>(seeds.size()));
  };
  expect_like(start, {1, 2});
  expect_like(left, {1, 2, 3});
  expect_like(right, {1, 2, 4});

  // Rows chosen from it, as a search does, go on by themselves.
  Memory chosen = left;
  chosen.select(ids({1, 1}));
  EXPECT_TRUE(chosen.keys_as_they_are());
  EXPECT_EQ(chosen.keys.value().data(), left.keys.value().data());  // nothing moved
  const Memory later = one.layer.extended(chosen, y(5)), own = later.gathered();
  EXPECT_TRUE(same_bits(own.keys.value().slice(0, 0, 1).slice(2, 0, 3), left.keys.value().slice(0, 1, 2)));
  const Var asked(random_tensor(Shape{2, 1, kModelWidth}, 6));
  const MultiHead::Result read = one.layer(asked, later, 3), expected = one.layer(asked, own, 3);
  EXPECT_TRUE(same_bits(read.read.value(), expected.read.value()));
  EXPECT_TRUE(same_bits(read.weights.value(), expected.weights.value()));
  expect_like(left, {1, 2, 3});

  // More rows than it ever had, and then fewer.
  Memory wide = later;
  wide.select(ids({0, 1, 1, 0, 1}));
  wide = one.layer.extended(wide, Var(random_tensor(Shape{5, 1, kModelWidth}, 7)));
  wide.select(ids({4, 2}));
  const Memory alone = wide.gathered();
  EXPECT_EQ(wide.batch(), 2);
  EXPECT_TRUE(same_bits(one.layer(asked, wide, 4).read.value(), one.layer(asked, alone, 4).read.value()));
  EXPECT_TRUE(same_bits(alone.values.value().slice(2, 0, 4).slice(0, 1, 2), own.values.value().slice(0, 1, 2)));
}

TEST(MultiHead, AMemoryThatCannotGrowSaysWhy) {
  const AttendingLayer one(2);
  const auto words = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const Var x(random_tensor(Shape{2, 3, kModelWidth}, 1)), y(random_tensor(Shape{1, 1, kModelWidth}, 1));
  EXPECT_EQ(words([&] {
              one.layer.extended(one.layer.memory(x, ids({3, 2})), slice(x, 1, 0, 1));
            }),
            "[attention] a memory of 3 with a sentence of length 2 cannot grow");
  EXPECT_EQ(words([&] { one.layer.extended(one.layer.memory(x), y); }),
            "[attention] keys [1, 2, 1, 3] and values [1, 2, 1, 3] do not continue keys [2, 2, 3, 3] and values "
            "[2, 2, 3, 3]");
}

// What a query carries reaches the attention inside: the key of a sampled choice, and the past.
TEST(MultiHead, PassesTrainingKeyAndPastOn) {
  MultiHeadOptions options = AttendingLayer::options(2, "scaled-dot", "global");
  options.attention.normaliser = "hard";
  options.attention.soft_mixing = 0;
  Parameters parameters;
  const MultiHead hard(Scope(parameters), options);
  const Var x(random_tensor(Shape{1, 4, kModelWidth}, 1));
  Query query;
  query.vectors = x;
  query.training = true;
  std::set<std::string> choices;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    query.key = RandomKey{seed, 0};
    const MultiHead::Result result = hard(query, hard.memory(x));
    EXPECT_EQ(result.sampled.log_probability.shape(), (Shape{1, 2, 4}));
    std::string choice;
    const Tensor weights = result.weights.value().contiguous();
    for (const Real weight : weights.values()) choice += weight > 0 ? 'x' : '.';
    choices.insert(choice);
  }
  EXPECT_GT(choices.size(), 1U);

  const AttendingLayer coverage(2, "coverage");
  EXPECT_TRUE(coverage.layer.carries().coverage);
  Query step;
  step.vectors = slice(x, 1, 0, 1);
  const MultiHead::Result first = coverage.layer(step, coverage.layer.memory(x));
  step.past = &first.past;
  const MultiHead::Result second = coverage.layer(step, coverage.layer.memory(x));
  EXPECT_GT(distance(first.read.value(), second.read.value()), 1e-6);
}

TEST(MultiHead, GoesOnFromAPositionWithSeveralQueries) {
  const AttendingLayer one(2, "relative", "causal");
  const Var x(random_tensor(Shape{1, 6, kModelWidth}, 1));
  const MultiHead::Result full = one.self(x);
  const MultiHead::Result later = one.layer(slice(x, 1, 3, 6), one.layer.memory(x), 3);
  EXPECT_LE(distance(later.read.value(), slice(full.read, 1, 3, 6).value()), 1e-5);
}

}  // namespace
}  // namespace heed::test
