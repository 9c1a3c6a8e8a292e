#include "heed/autograd/ops/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "support/messages.h"

namespace heed::test {
namespace {

Tensor drawn_tensor(const Shape& shape, std::uint64_t stream, double scale = 0.5) {
  RandomSequence random(RandomKey{3, stream});
  Tensor tensor(shape);
  for (Real& x : tensor.values()) x = static_cast<Real>(scale * random.normal());
  return tensor;
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance, const std::string& what = "") {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  const Tensor x = a.contiguous(), y = b.contiguous();
  for (Index i = 0; i < x.size(); ++i) ASSERT_NEAR(x.data()[i], y.data()[i], tolerance) << what << " element " << i;
}

const std::vector<GruForm> kForms{{GruReset::after_product, UpdateGate::keeps_state},
                                  {GruReset::after_product, UpdateGate::takes_candidate},
                                  {GruReset::before_product, UpdateGate::keeps_state},
                                  {GruReset::before_product, UpdateGate::takes_candidate}};

LstmWeights drawn_lstm(Index in, Index hidden) {
  return {drawn_tensor({in, 4 * hidden}, 1), drawn_tensor({hidden, 4 * hidden}, 2), drawn_tensor({4 * hidden}, 3)};
}
GruWeights drawn_gru(Index in, Index hidden, const GruForm& form) {
  return {drawn_tensor({in, 3 * hidden}, 1), drawn_tensor({hidden, 3 * hidden}, 2), drawn_tensor({3 * hidden}, 3),
          form.reset == GruReset::after_product ? Var(drawn_tensor({hidden}, 4)) : Var()};
}
Tensor word(const Tensor& x, Index t) { return x.slice(1, t, t + 1).reshape({x.size(0), x.size(2)}); }
// Sentence b alone, without its padding.
Tensor sentence(const Tensor& x, Index b, Index length) { return x.slice(0, b, b + 1).slice(1, 0, length).copy(); }

TEST(Recurrent, RepeatedStepsAreTheSequence) {
  const Tensor x = drawn_tensor({5, 6, 7}, 9, 1), h0 = drawn_tensor({5, 19}, 10), c0 = drawn_tensor({5, 19}, 11);
  const LstmWeights weights = drawn_lstm(7, 19);
  const LstmResult whole = lstm(x, weights, {h0, c0});
  LstmState state{h0, c0};
  for (Index t = 0; t < 6; ++t) {
    state = lstm_step(word(x, t), state, weights);
    expect_near(state.hidden.value(), word(whole.outputs.value(), t), 1e-6);
  }
  expect_near(state.hidden.value(), whole.last.hidden.value(), 1e-6);
  expect_near(state.cell.value(), whole.last.cell.value(), 1e-6);
  for (const GruForm& form : kForms) {
    const GruWeights gates = drawn_gru(7, 19, form);
    const GruResult result = gru(x, gates, h0, form);
    Var h = h0;
    for (Index t = 0; t < 6; ++t) {
      h = gru_step(word(x, t), h, gates, form);
      expect_near(h.value(), word(result.outputs.value(), t), 1e-6);
    }
    expect_near(h.value(), result.last.value(), 1e-6);
  }
}

// Batched equals alone, in both directions; padding gives zeros and takes no part even if it is not a number.
TEST(Recurrent, PaddingTakesNoPart) {
  const Index batch = 5, time = 6, in = 4, hidden = 17;
  const std::vector<std::int32_t> lengths{3, 6, 1, 0, 6};
  Tensor x = drawn_tensor({batch, time, in}, 9, 1);
  for (Index b = 0; b < batch; ++b)
    for (Index i = lengths[b] * in; i < time * in; ++i)
      x.data()[b * time * in + i] = std::numeric_limits<Real>::quiet_NaN();
  const Tensor h0 = drawn_tensor({batch, hidden}, 10), c0 = drawn_tensor({batch, hidden}, 11);
  for (const bool reverse : {false, true}) {
    const SequenceOptions options{Ids(Shape{batch}, std::span<const std::int32_t>(lengths)), reverse};
    const auto check = [&](const Tensor& outputs, const Tensor& last, auto&& alone) {
      for (Index b = 0; b < batch; ++b) {
        const Tensor padding = outputs.slice(0, b, b + 1).slice(1, lengths[b], time).copy();
        for (const Real y : padding.values()) EXPECT_EQ(y, 0);
        const Tensor state = last.slice(0, b, b + 1);
        if (lengths[b] == 0) {
          expect_near(state, h0.slice(0, b, b + 1), 0);
          continue;
        }
        const auto [y, h] = alone(b);
        expect_near(y, sentence(outputs, b, lengths[b]), 1e-6);
        expect_near(h, state, 1e-6);
      }
    };
    const LstmWeights weights = drawn_lstm(in, hidden);
    const LstmResult result = lstm(x, weights, {h0, c0}, options);
    check(result.outputs.value(), result.last.hidden.value(), [&](Index b) {
      const LstmResult one =
          lstm(sentence(x, b, lengths[b]), weights, {h0.slice(0, b, b + 1), c0.slice(0, b, b + 1)}, {{}, reverse});
      expect_near(one.last.cell.value(), result.last.cell.value().slice(0, b, b + 1), 1e-6);
      return std::pair(one.outputs.value(), one.last.hidden.value());
    });
    for (const GruForm& form : kForms) {
      const GruWeights gates = drawn_gru(in, hidden, form);
      const GruResult all = gru(x, gates, h0, form, options);
      check(all.outputs.value(), all.last.value(), [&](Index b) {
        const GruResult one = gru(sentence(x, b, lengths[b]), gates, h0.slice(0, b, b + 1), form, {{}, reverse});
        return std::pair(one.outputs.value(), one.last.value());
      });
    }
  }
}

// Outputs, last states and gradients of two cells at once are those of one after the other, on one thread and on two.
// Long enough that two threads are used, and that a product of the inputs has not all words.
TEST(Recurrent, BothWaysAreTwoCellsOnAnyThreadCount) {
  const Index batch = 20, time = 40, in = 9, hidden = 37;
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(batch));
  for (Index b = 0; b < batch; ++b) lengths[static_cast<std::size_t>(b)] = static_cast<std::int32_t>(time - b % 7 * 3);
  const SequenceOptions options{Ids(Shape{batch}, std::span<const std::int32_t>(lengths))};
  const SequenceOptions opposite{options.lengths, true};
  const Var x = Var::leaf(drawn_tensor({batch, time, in}, 9, 1)), h = Var::leaf(drawn_tensor({batch, hidden}, 10));
  const auto leaves = [](const LstmWeights& w) {
    return LstmWeights{Var::leaf(w.input.value()), Var::leaf(w.recurrent.value()), Var::leaf(w.bias.value())};
  };
  const LstmWeights ahead = leaves(drawn_lstm(in, hidden)),
                    back = leaves({drawn_tensor({in, 4 * hidden}, 21), drawn_tensor({hidden, 4 * hidden}, 22),
                                   drawn_tensor({4 * hidden}, 23)});
  const auto loss_of = [](const Var& a, const Var& b, const LstmState& last_a, const LstmState& last_b) {
    return sum(square(a)) + sum(tanh(b)) + sum(last_a.hidden * last_b.cell);
  };
  const LstmResult one = lstm(x, ahead, {h, {}}, options), other = lstm(x, back, {}, opposite);
  const Gradients want = backward(loss_of(one.outputs, other.outputs, one.last, other.last));
  const int before = thread_count();
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    const LstmBothResult both = lstm_both_ways(x, {ahead, back}, {{h, {}}, {}}, options);
    expect_near(both.outputs.value().slice(2, 0, hidden), one.outputs.value(), 0);
    expect_near(both.outputs.value().slice(2, hidden, 2 * hidden), other.outputs.value(), 0);
    expect_near(both.last.ahead.cell.value(), one.last.cell.value(), 0);
    expect_near(both.last.back.hidden.value(), other.last.hidden.value(), 0);
    const Gradients got =
        backward(loss_of(slice(both.outputs, -1, 0, hidden), slice(both.outputs, -1, hidden, 2 * hidden),
                         both.last.ahead, both.last.back));
    for (const Var& leaf : {x, h, ahead.input, ahead.recurrent, ahead.bias, back.input, back.recurrent, back.bias})
      expect_near(got.of(leaf), want.of(leaf), 1e-4 * std::sqrt(static_cast<double>(batch * time)));
  }
  set_thread_count(before);
}

// Reading the turned sentence in reverse is reading the sentence: turning twice changes nothing.
TEST(Recurrent, ReversingTwiceIsTheIdentity) {
  const Index batch = 3, time = 5, in = 4;
  const Ids lengths(Shape{batch}, {5, 2, 4});
  const Tensor x = drawn_tensor({batch, time, in}, 9, 1);
  const auto turned = [&](const Tensor& t) {
    Tensor result = t.copy();
    const Index width = t.size(2);
    for (Index b = 0; b < batch; ++b)
      for (Index i = 0, n = lengths.at({b}); i < n; ++i)
        std::copy_n(t.data() + (b * time + n - 1 - i) * width, width, result.data() + (b * time + i) * width);
    return result;
  };
  const LstmWeights weights = drawn_lstm(in, 6);
  const LstmResult plain = lstm(x, weights, {}, {lengths}), twice = lstm(turned(x), weights, {}, {lengths, true});
  expect_near(turned(twice.outputs.value()), plain.outputs.value(), 0);
  expect_near(twice.last.cell.value(), plain.last.cell.value(), 0);
}

// tanh⁻¹ of the candidate, read off a step whose update gate takes it whole (z = 0 exactly).
Tensor candidate(GruReset reset, const Tensor& u_n, Real r_bias0, Real r_bias1, const Tensor& h) {
  Tensor u({2, 6}, Real{0});
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 2; ++j) u.data()[i * 6 + 4 + j] = u_n.at({i, j});
  const Tensor bias({6}, {r_bias0, r_bias1, -200, -200, 0, 0});
  const GruWeights weights{Tensor({1, 6}, Real{0}), u, bias, {}};
  Tensor n = gru_step(Tensor({1, 1}, Real{0}), h, weights, {reset, UpdateGate::keeps_state}).value().copy();
  for (Real& y : n.values()) y = std::atanh(y);
  return n;
}

TEST(Recurrent, ResetBeforeAndAfterDifferAsDefined) {
  const Tensor u({2, 2}, {0, 1, 1, 0}), h({1, 2}, {1, 2});
  // r = (1, 0)
  expect_near(candidate(GruReset::before_product, u, 200, -200, h), Tensor({1, 2}, {0, 1}), 1e-5);
  expect_near(candidate(GruReset::after_product, u, 200, -200, h), Tensor({1, 2}, {2, 0}), 1e-5);
  // A constant r passes through any product.
  const Tensor any = drawn_tensor({2, 2}, 5);
  expect_near(candidate(GruReset::before_product, any, 0.7, 0.7, h),
              candidate(GruReset::after_product, any, 0.7, 0.7, h), 1e-5);
}

TEST(Recurrent, AnUpdateGateThatKeepsCopiesTheState) {
  const Tensor x = drawn_tensor({2, 3}, 1), h = drawn_tensor({2, 5}, 2);
  for (const GruForm& form : kForms) {
    GruWeights weights = drawn_gru(3, 5, form);
    Tensor bias = drawn_tensor({15}, 3);
    std::fill_n(bias.data() + 5, 5, form.update == UpdateGate::keeps_state ? Real{200} : Real{-200});
    weights.bias = bias;
    expect_near(gru_step(x, h, weights, form).value(), h, 0);
  }
}

TEST(Recurrent, NegatingTheUpdateGateTurnsItsSense) {
  const Tensor x = drawn_tensor({3, 4, 2}, 1), h = drawn_tensor({3, 5}, 2);
  const auto negated = [](const Var& weight) {
    Tensor w = weight.value().copy();
    const Index rows = w.size() / 15;
    for (Index r = 0; r < rows; ++r)
      for (Index i = 5; i < 10; ++i) w.data()[r * 15 + i] *= -1;
    return w;
  };
  for (const GruReset reset : {GruReset::before_product, GruReset::after_product}) {
    const GruWeights w = drawn_gru(2, 5, {reset, UpdateGate::keeps_state});
    const GruWeights turned{negated(w.input), negated(w.recurrent), negated(w.bias), w.candidate_bias};
    expect_near(gru(x, w, h, {reset, UpdateGate::keeps_state}).outputs.value(),
                gru(x, turned, h, {reset, UpdateGate::takes_candidate}).outputs.value(), 1e-6);
  }
}

TEST(Recurrent, ThreadsDoNotChangeTheResult) {
  const Tensor x = drawn_tensor({40, 5, 48}, 9, 1);
  const LstmWeights weights{Var::leaf(drawn_tensor({48, 400}, 1)), Var::leaf(drawn_tensor({100, 400}, 2)), {}};
  const int before = thread_count();
  std::vector<Tensor> outputs, gradients;
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    const Var y = lstm(x, weights).outputs;
    outputs.push_back(y.value());
    Gradients all;
    backward(y, Tensor(y.shape(), Real{1}), all);
    gradients.push_back(all.of(weights.recurrent));
  }
  set_thread_count(before);
  expect_near(outputs[0], outputs[1], 1e-6);
  expect_near(gradients[0], gradients[1], 1e-3);
}

TEST(Recurrent, BadInputsAreErrors) {
  const Tensor x({2, 3, 4}, Real{0});
  const LstmWeights w = drawn_lstm(4, 5);
  EXPECT_EQ(message_of([&] { lstm(Tensor({2, 4}, Real{0}), w); }), "[lstm] x must be [batch, time, in], not [2, 4]");
  EXPECT_EQ(message_of([&] { lstm(Tensor(Shape{0, 3, 4}), w); }), "[lstm] the batch is empty: x has shape [0, 3, 4]");
  EXPECT_EQ(message_of([&] {
              lstm(x, {w.recurrent, w.recurrent, {}});
            }),
            "[lstm] input weights must be [4, 20], not [5, 20]");
  EXPECT_EQ(message_of([&] {
              lstm(x, {w.input, w.input, {}});
            }),
            "[lstm] recurrent weights must be [hidden, 4·hidden], not [4, 20]");
  EXPECT_EQ(message_of([&] {
              lstm(x, w, {}, {Ids(Shape{2}, {3, 4})});
            }),
            "[lstm] length 4 of sentence 1 is outside 0..3");
  EXPECT_EQ(message_of([&] {
              lstm(x, w, {}, {Ids(Shape{2}, {-1, 3})});
            }),
            "[lstm] length -1 of sentence 0 is outside 0..3");
  EXPECT_EQ(message_of([&] { lstm(x, w, {}, {Ids(Shape{3}, {1, 1, 1})}); }), "[lstm] lengths must be [2], not [3]");
  EXPECT_EQ(message_of([&] {
              lstm(x, w, {Tensor({2, 4}, Real{0}), {}});
            }),
            "[lstm] the state must be [2, 5], not [2, 4]");
  EXPECT_EQ(message_of([&] {
              lstm(x, w, {{}, Tensor({1, 5}, Real{0})});
            }),
            "[lstm] the cell must be [2, 5], not [1, 5]");
  EXPECT_EQ(message_of([&] {
              lstm(x, {w.input, w.recurrent, Tensor({5}, Real{0})});
            }),
            "[lstm] the bias must be [20] or [2, 20], not [5]");
  EXPECT_EQ(message_of([&] { lstm_step(x, {}, w); }), "[lstm_step] x must be [batch, in], not [2, 3, 4]");
  const GruForm before{GruReset::before_product, UpdateGate::keeps_state};
  GruWeights g = drawn_gru(4, 5, {});
  EXPECT_EQ(message_of([&] { gru(x, g, {}, before); }),
            "[gru] the candidate has a bias of its own only where the reset comes after the product");
  EXPECT_EQ(message_of([&] {
              gru_step(Tensor({2, 3}, Real{0}), {}, g);
            }),
            "[gru_step] input weights must be [3, 15], not [4, 15]");
}

// Values and gradients recorded from torch.nn.LSTM and torch.nn.GRU by tests/reference/make_recurrent_cases.py.
TEST(Recurrent, AgreesWithTorch) {
  std::ifstream file(HEED_SOURCE_DIR "/tests/autograd/ops/recurrent_torch.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 8u);
  for (const nlohmann::json& one : cases) {
    const std::string kind = one.at("kind");
    SCOPED_TRACE(kind + " " + one.at("lengths").dump() + " reverse " + one.at("reverse").dump());
    const auto sizes = one.at("sizes").get<std::vector<Index>>();
    const Index batch = sizes[0], time = sizes[1], in = sizes[2], hidden = sizes[3], gates = kind == "LSTM" ? 4 : 3;
    const auto tensor = [&](const char* group, const char* name, const Shape& shape) {
      const auto numbers = one.at(group).at(name).get<std::vector<Real>>();
      return Tensor(shape, std::span<const Real>(numbers));
    };
    std::vector<std::pair<const char*, Var>> inputs;
    const auto leaf = [&](const char* name, const Shape& shape) {
      return inputs.emplace_back(name, Var::leaf(tensor("inputs", name, shape))).second;
    };
    const auto lengths = one.at("lengths").get<std::vector<std::int32_t>>();
    const SequenceOptions options{Ids(Shape{batch}, std::span<const std::int32_t>(lengths)), one.at("reverse") == 1};
    const Var x = leaf("x", {batch, time, in}), w = leaf("input", {in, gates * hidden}),
              u = leaf("recurrent", {hidden, gates * hidden}), b = leaf("bias", {gates * hidden}),
              h = leaf("hidden", {batch, hidden});
    std::vector<std::pair<const char*, Var>> results;
    if (kind == "LSTM") {
      const Var c = leaf("cell", {batch, hidden});
      const LstmResult r = lstm(x, {w, u, b}, {h, c}, options);
      results = {{"outputs", r.outputs}, {"hidden", r.last.hidden}, {"cell", r.last.cell}};
    } else {
      const GruResult r = gru(x, {w, u, b, leaf("candidate_bias", {hidden})}, h, {}, options);
      results = {{"outputs", r.outputs}, {"hidden", r.last}};
    }
    // One loss of all results, each with a seed of its own.
    Var loss;
    for (const auto& [name, result] : results) {
      expect_near(result.value(), tensor("results", name, result.shape()), 2e-6, name);
      const Var part = sum(result * Var(tensor("seeds", name, result.shape())));
      loss = loss ? loss + part : part;
    }
    const Gradients gradients = backward(loss);
    for (const auto& [name, input] : inputs)
      expect_near(gradients.of(input), tensor("gradients", name, input.shape()), 2e-5, name);
  }
}

}  // namespace
}  // namespace heed::test
