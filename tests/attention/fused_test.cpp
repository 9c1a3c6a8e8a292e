#include "heed/attention/fused.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>

#include "heed/attention/attend.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "support/messages.h"
#include "support/op_cases.h"

namespace heed::test {
namespace {

struct FusedInputs {
  Var q, k, v;
  Tensor seed;  // of the read's gradient
};

FusedInputs inputs(Index batch, Index heads, Index n, Index m, Index width, Index value_width, std::uint64_t seed = 1) {
  const std::vector<Tensor> x =
      make_inputs({{Shape{batch, heads, n, width}, Shape{batch, heads, m, width}, Shape{batch, heads, m, value_width},
                    Shape{batch, heads, n, value_width}}},
                  seed);
  return {Var::leaf(x[0]), Var::leaf(x[1]), Var::leaf(x[2]), x[3]};
}

Mask mask_of(const FusedInputs& x, const FusedOptions& options) {
  Mask mask(Shape{x.q.size(0), x.q.size(1), x.q.size(2), x.k.size(2)});
  bool* to = mask.data();
  for (Index b = 0; b < x.q.size(0); ++b)
    for (Index h = 0; h < x.q.size(1); ++h)
      for (Index i = 0; i < x.q.size(2); ++i)
        for (Index j = 0; j < x.k.size(2); ++j) {
          const std::size_t at = static_cast<std::size_t>(b);
          *to++ = (options.key_lengths.empty() || j < options.key_lengths[at]) &&
                  (options.query_lengths.empty() || i < options.query_lengths[at]) && i - j <= options.band.before &&
                  j - i <= options.band.after;
        }
  return mask;
}

// The definition.
Var composed(const FusedInputs& x, const FusedOptions& options, Tensor* weights = nullptr) {
  const Real factor = options.scale.value_or(1 / std::sqrt(static_cast<Real>(x.q.size(3))));
  const Var p = softmax(scale(matmul(x.q, x.k, {false, true}), factor), mask_of(x, options));
  if (weights) *weights = p.value();
  return matmul(p, x.v);
}

void expect_fused_near(const Tensor& got, const Tensor& expected, Real tolerance, const char* what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  const Tensor a = got.contiguous(), b = expected.contiguous();
  for (Index i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.data()[i], b.data()[i], tolerance * (1 + std::abs(b.data()[i]))) << what << " " << i;
}

void expect_like_definition(const FusedInputs& x, const FusedOptions& options) {
  Tensor weights;
  const Var expected = composed(x, options, &weights);
  const FusedAttention got = attend_fused(x.q, x.k, x.v, options);
  expect_fused_near(got.read.value(), expected.value(), 1e-5f, "read");
  expect_fused_near(got.weights(), weights, 1e-5f, "weights");
  Gradients fused, dense;
  backward(got.read, x.seed, fused);
  backward(expected, x.seed, dense);
  expect_fused_near(fused.of(x.q), dense.of(x.q), 3e-5f, "dq");
  expect_fused_near(fused.of(x.k), dense.of(x.k), 3e-5f, "dk");
  expect_fused_near(fused.of(x.v), dense.of(x.v), 3e-5f, "dv");
}

RC_GTEST_PROP(FusedAttention, IsItsDefinition, ()) {
  const Index batch = *rc::gen::inRange<Index>(1, 4), heads = *rc::gen::inRange<Index>(1, 4);
  const Index n = *rc::gen::inRange<Index>(1, 120), m = *rc::gen::inRange<Index>(1, 120);
  const Index width = *rc::gen::inRange<Index>(1, 70), value_width = *rc::gen::inRange<Index>(1, 70);
  FusedOptions options;
  options.key_block = *rc::gen::element<Index>(1, 33, 64, 512);
  if (*rc::gen::arbitrary<bool>()) options.scale = Real(0.25);
  for (Index b = 0; b < batch; ++b) {
    options.key_lengths.push_back(*rc::gen::inRange<Index>(0, m + 1));
    options.query_lengths.push_back(*rc::gen::inRange<Index>(0, n + 1));
  }
  options.band = *rc::gen::element(Band{}, causal(), restricted(7), Band{3, -1});
  expect_like_definition(inputs(batch, heads, n, m, width, value_width), options);
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(FusedAttentionOp, NothingSeenIsZeroForwardAndBackward) {
  const FusedInputs x = inputs(1, 1, 3, 4, 2, 2);
  const FusedAttention none = attend(x.q, x.k, x.v, mask([](Index, Index, Index i, Index) { return i == 1; }));
  EXPECT_EQ(none.log_sum.at({0, 0, 0}), -std::numeric_limits<Real>::infinity());
  EXPECT_EQ(none.read.value().at({0, 0, 0, 1}), 0);
  EXPECT_NE(none.read.value().at({0, 0, 1, 1}), 0);
  const FusedAttention::Summaries summaries = none.summaries(2);
  EXPECT_EQ(summaries.entropy.at({0, 0, 0}), 0);
  EXPECT_EQ(summaries.top_keys.at({0, 0, 0, 0}), -1);
  EXPECT_GE(summaries.top_keys.at({0, 0, 1, 1}), 0);
  Gradients gradients;
  backward(none.read, x.seed, gradients);
  EXPECT_EQ(gradients.of(x.q).at({0, 0, 0, 0}), 0);
  EXPECT_NE(gradients.of(x.q).at({0, 0, 1, 0}), 0);
  EXPECT_EQ(gradients.of(x.q).at({0, 0, 2, 1}), 0);
}

TEST(FusedAttentionOp, AUsersScoreIsTheComposedOne) {
  const FusedInputs x = inputs(2, 2, 30, 41, 8, 8);
  const auto mine = heed::attend(
      x.q, x.k, x.v, heed::score([](float s, Index, Index, Index i, Index j) { return s - 0.1f * std::abs(i - j); }),
      heed::mask([](Index, Index, Index i, Index j) { return j <= i; }));
  Tensor distance(Shape{30, 41});
  for (Index i = 0; i < 30; ++i)
    for (Index j = 0; j < 41; ++j) distance.data()[i * 41 + j] = Real(-0.1) * static_cast<Real>(std::abs(i - j));
  FusedOptions options;
  options.band = causal();
  const Var scores = scale(matmul(x.q, x.k, {false, true}), 1 / std::sqrt(Real(8))) + Var(distance);
  const Var p = softmax(scores, mask_of(x, options)), expected = matmul(p, x.v);
  expect_fused_near(mine.read.value(), expected.value(), 1e-5f, "read");
  const Var head = slice(p, 1, 1, 2);
  expect_fused_near(mine.weights({4, 17}, {1}), concat({slice(head, 2, 4, 5), slice(head, 2, 17, 18)}, 2).value(),
                    1e-5f, "weights");
  Gradients fused, dense;
  backward(mine.read, x.seed, fused);
  backward(expected, x.seed, dense);
  expect_fused_near(fused.of(x.q), dense.of(x.q), 3e-5f, "dq");
  expect_fused_near(fused.of(x.k), dense.of(x.k), 3e-5f, "dk");
  expect_fused_near(fused.of(x.v), dense.of(x.v), 3e-5f, "dv");
}

TEST(FusedAttentionOp, DifferencesInFloatAreNearTheDerivative) {
  const auto f = [](Real s, Index, Index, Index, Index) { return std::tanh(s) * 3; };
  for (Real s = -5; s < 5; s += Real(0.37)) {
    const Real y = std::tanh(s);
    EXPECT_NEAR(detail::score_slope(f, s, 0, 0, 0, 0), 3 * (1 - y * y), 2e-5) << s;
  }
}

TEST(FusedAttentionOp, TheReadKeepsTheLayoutOfTheQueries) {
  const FusedInputs x = inputs(2, 3, 5, 6, 4, 4);
  const auto inside = [](const Var& y) { return Var(y.value().transpose(1, 2).copy().transpose(1, 2)); };
  const FusedAttention plain = attend(x.q, x.k, x.v), view = attend(inside(x.q), inside(x.k), inside(x.v));
  EXPECT_TRUE(plain.read.value().contiguous_layout());
  EXPECT_TRUE(view.read.value().transpose(1, 2).contiguous_layout());
  expect_fused_near(view.read.value(), plain.read.value(), 0, "read");
}

TEST(FusedAttentionOp, AStepIsTheLastRowOfTheCausalRead) {
  const FusedInputs x = inputs(2, 2, 70, 70, 16, 16);
  FusedOptions options;
  options.band = causal();
  const Tensor all = attend_fused(x.q, x.k, x.v, options).read.value();
  for (const Index i : {0, 1, 69}) {
    FusedOptions until;
    until.key_lengths = {i + 1, i + 1};
    expect_fused_near(attend_step(x.q.value().slice(2, i, i + 1), x.k.value(), x.v.value(), until),
                      all.slice(2, i, i + 1), 1e-5f, "step");
  }
}

TEST(FusedAttentionOp, BadInputIsAnError) {
  const FusedInputs x = inputs(2, 1, 3, 4, 5, 6), y = inputs(2, 1, 3, 4, 7, 6), z = inputs(1, 1, 3, 5, 5, 6);
  EXPECT_EQ(message_of([&] { attend(x.q, y.k, x.v); }), "[fused_attention] queries are 5 wide, keys 7");
  EXPECT_EQ(message_of([&] { attend(z.q, z.k, inputs(1, 1, 3, 4, 5, 6).v); }), "[fused_attention] 5 keys for 4 values");
  EXPECT_EQ(message_of([&] { attend(x.q, z.k, z.v); }),
            "[fused_attention] batch and heads differ: queries [2, 1, 3, 5], keys [1, 1, 5, 5], values [1, 1, 5, 6]");
  EXPECT_EQ(message_of([&] {
              attend(Var(Tensor(Shape{3, 5})), x.k, x.v);
            }),
            "[fused_attention] needs [batch, heads, positions, width], not [3, 5]");
  FusedOptions options;
  options.key_lengths = {4, 5};
  EXPECT_EQ(message_of([&] { attend(x.q, x.k, x.v, options); }), "[fused_attention] key length 5 is outside 0..4");
  options.key_lengths = {4};
  EXPECT_EQ(message_of([&] { attend(x.q, x.k, x.v, options); }), "[fused_attention] 1 key lengths for a batch of 2");
  EXPECT_EQ(message_of([&] { restricted(0); }), "[fused_attention] restricted attention needs r > 0, not 0");
  EXPECT_EQ(message_of([&] { attend(x.q, x.k, x.v).summaries(5); }),
            "[fused_attention] the top 5 of 4 keys does not exist");
  EXPECT_EQ(message_of([&] { attend(x.q, x.k, x.v).weights({3}); }), "[fused_attention] row 3 is outside 0..2");
  EXPECT_EQ(message_of([&] { attend_step(x.q.value(), x.k.value(), x.v.value()); }),
            "[attend_step] takes one query, not 3");
}

// What the compiler says of a file in must_not_compile/, and whether it accepts it.
std::pair<bool, std::string> compiled(const std::string& name) {
  const std::string command = "c++ -std=c++20 -fsyntax-only -I" HEED_SOURCE_DIR "/include " HEED_SOURCE_DIR
                              "/tests/attention/must_not_compile/" +
                              name + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), count);
  return {pclose(pipe) == 0, text};
}

TEST(FusedAttentionOp, AWrongSignatureIsToldInWords) {
  const auto [right, words] = compiled("right.cpp");
  ASSERT_TRUE(right) << words;  // so that the others fail for their own reason
  const auto [score_ok, score_text] = compiled("wrong_score.cpp");
  EXPECT_FALSE(score_ok);
  EXPECT_NE(score_text.find("heed::score needs a function (score, batch, head, query, key) -> score"),
            std::string::npos)
      << score_text;
  const auto [mask_ok, mask_text] = compiled("wrong_mask.cpp");
  EXPECT_FALSE(mask_ok);
  EXPECT_NE(mask_text.find("heed::mask needs a function (batch, head, query, key) -> bool"), std::string::npos)
      << mask_text;
}

}  // namespace
}  // namespace heed::test
