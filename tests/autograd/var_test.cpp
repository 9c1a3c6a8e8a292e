#include "heed/autograd/var.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/embedding.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/norm.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "support/messages.h"

namespace heed::test {
namespace {

Tensor vector_of(std::initializer_list<Real> values) {
  return Tensor(Shape{static_cast<Index>(values.size())}, values);
}

std::vector<Real> values_of(const Tensor& x) {
  const Tensor packed = x.contiguous();
  return {packed.values().begin(), packed.values().end()};
}
using Values = std::vector<Real>;

Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  Tensor x(shape);
  RandomSequence random(RandomKey{seed, 3});
  for (Real& value : x.values()) value = static_cast<Real>(0.3 * random.normal());
  return x;
}

// Accumulation -------------------------------------------------------------------------------------------------------

TEST(Tape, ADiamondAddsBothPaths) {
  const Var x = Var::leaf(vector_of({2, -3}));
  const Var h = square(x);
  const Var y = h * x + Real{5} * h;  // x³ + 5x²
  EXPECT_EQ(values_of(backward(sum(y)).of(x)), (Values{12 + 20, 27 - 30}));
}

TEST(Tape, BothSidesMayBeTheSameVariable) {
  const Var x = Var::leaf(vector_of({3, -1}));
  EXPECT_EQ(values_of(backward(sum(x * x)).of(x)), (Values{6, -2}));
  EXPECT_EQ(values_of(backward(sum(x + x)).of(x)), (Values{2, 2}));
  EXPECT_EQ(values_of(backward(sum(x - x)).of(x)), (Values{0, 0}));
  EXPECT_EQ(values_of(backward(sum(x / x)).of(x)), (Values{0, 0}));
  const Var w = Var::leaf(Tensor(Shape{2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(values_of(backward(sum(matmul(w, w))).of(w)), (Values{7, 11, 9, 13}));
}

// add returns the same tensor for both inputs: what one branch adds must not show up in the other.
TEST(Tape, AGradientHandedOutTwiceIsNotOverwritten) {
  const Var a = Var::leaf(vector_of({1, 2})), b = Var::leaf(vector_of({3, 4})), c = Var::leaf(vector_of({5, 6}));
  const Var s = a + b;
  const Var y = s + a + c;  // a is used twice, and shares its first gradient with b, c and the seed
  const Tensor seed = vector_of({10, 20});
  Gradients gradients;
  backward(y, seed, gradients);
  EXPECT_EQ(values_of(gradients.of(a)), (Values{20, 40}));
  EXPECT_EQ(values_of(gradients.of(b)), (Values{10, 20}));
  EXPECT_EQ(values_of(gradients.of(c)), (Values{10, 20}));
  EXPECT_EQ(values_of(seed), (Values{10, 20}));
}

TEST(Tape, TwoBackwardsAddUpInOneGradients) {
  const Var x = Var::leaf(vector_of({1, 2}));
  Gradients gradients;
  backward(sum(x), gradients);
  backward(sum(x * x), gradients);
  EXPECT_EQ(values_of(gradients.of(x)), (Values{3, 5}));
  gradients.clear();
  EXPECT_EQ(gradients.find(x), nullptr);
}

TEST(Tape, StepsOfASequenceAddUpInTheirPlaces) {
  const Index steps = 50;
  const Var x = Var::leaf(random_tensor(Shape{3, steps, 2}, 1));
  Var total = Tensor(Shape{3, 2}, Real{0});
  for (Index t = 0; t < steps; ++t) total = total + static_cast<Real>(t) * at(x, 1, t);
  total = total + at(x, 1, 7);  // one of them once more
  const Tensor gradient = backward(sum(total)).of(x);
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < steps; ++t)
      EXPECT_EQ(gradient.at({b, t, 1}), static_cast<Real>(t == 7 ? 8 : t)) << b << " " << t;
}

TEST(Tape, OverlappingSlicesAndTheWholeAddUp) {
  const Var x = Var::leaf(vector_of({1, 2, 3, 4}));
  const Var y = sum(slice(x, 0, 0, 3)) + sum(slice(x, 0, 2, 4)) + sum(Real{10} * x) + sum(slice(x, 0, 1, 2));
  EXPECT_EQ(values_of(backward(y).of(x)), (Values{11, 12, 12, 11}));
}

TEST(Tape, BroadcastInputsGetTheSum) {
  const Var x = Var::leaf(Tensor(Shape{3, 2}, Real{1})), bias = Var::leaf(vector_of({1, 2}));
  const Var factor = Var::leaf(Tensor::scalar(3));
  const Gradients gradients = backward(sum((x + bias) * factor));
  EXPECT_EQ(values_of(gradients.of(bias)), (Values{9, 9}));
  EXPECT_EQ(values_of(gradients.of(factor)), (Values{15}));
  EXPECT_EQ(gradients.of(bias).shape(), bias.shape());
}

// What is recorded ---------------------------------------------------------------------------------------------------

TEST(Tape, ConstantsAreNotRecorded) {
  const Var x = vector_of({1, 2});
  EXPECT_FALSE(tanh(x + x).wants_gradient());
  EXPECT_EQ(message_of([&] { backward(sum(x)); }), "[backward] the value does not depend on any variable");
}

TEST(Tape, NoGradientRecordsNothingWhileItLives) {
  const Var x = Var::leaf(vector_of({1, 2}));
  {
    const NoGradient off;
    EXPECT_FALSE(recording());
    EXPECT_FALSE(tanh(x).wants_gradient());
    {
      const NoGradient nested;
      EXPECT_FALSE(recording());
    }
    EXPECT_FALSE(recording());
    bool other = false;
    std::thread([&] { other = recording(); }).join();
    EXPECT_TRUE(other);  // one thread's setting is its own
  }
  EXPECT_TRUE(recording());
  EXPECT_TRUE(tanh(x).wants_gradient());
}

TEST(Tape, GradientsStopAtDetached) {
  const Var x = Var::leaf(vector_of({2, 3}));
  const Var y = x * square(x).detached();
  EXPECT_EQ(values_of(backward(sum(y)).of(x)), (Values{4, 9}));
}

TEST(Tape, LeavesNotReachedAreZeros) {
  const Var x = Var::leaf(vector_of({2, 3})), other = Var::leaf(Tensor(Shape{2, 2}, Real{7}));
  const Gradients gradients = backward(sum(x));
  EXPECT_EQ(gradients.find(other), nullptr);
  EXPECT_EQ(gradients.of(other).shape(), (Shape{2, 2}));
  EXPECT_EQ(values_of(gradients.of(other)), (Values{0, 0, 0, 0}));
}

TEST(Tape, ALeafIsItsOwnGraph) {
  const Var x = Var::leaf(Tensor::scalar(5));
  EXPECT_EQ(backward(x).of(x).item(), 1);
}

// Memory is reused, so a new leaf may well stand where a dead one stood.
TEST(Tape, ANewLeafDoesNotInheritTheGradientOfADeadOne) {
  Gradients gradients;
  {
    const Var dead = Var::leaf(vector_of({1, 2}));
    backward(sum(dead), gradients);
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(gradients.find(Var::leaf(vector_of({1, 2}))), nullptr);
}

// Long, empty, wrong
// ---------------------------------------------------------------------------------------------------

TEST(Tape, AVeryLongChainIsRunAndFreed) {
  const Var x = Var::leaf(Tensor::scalar(1));
  const std::size_t before = memory::statistics().bytes_in_use;
  {
    Var y = x;
    for (int i = 0; i < 200'000; ++i) y = y + x;
    EXPECT_EQ(backward(y).of(x).item(), 200'001);
    Var unused = x;
    for (int i = 0; i < 200'000; ++i) unused = negate(unused);  // freed without being run
  }
  EXPECT_EQ(memory::statistics().bytes_in_use, before);
}

// At exit, static variables are freed after the thread's own objects: a sanitiser sees it if freeing needs one of
// those.
TEST(TapeDeathTest, AGraphOfStaticLifetimeIsFreedAtExit) {
  const auto leave = [] {
    static const Var x = Var::leaf(vector_of({1, 2}));
    static const Var y = sum(tanh(negate(x)));
    backward(sum(negate(x)));
    std::exit(0);
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(0), "");
}

TEST(Tape, BackwardFreesWhatTheClosuresKept) {
  const Var x = Var::leaf(random_tensor(Shape{100'000}, 1));
  const Var y = sum(tanh(square(x)));
  const std::size_t before = memory::statistics().bytes_in_use;
  Gradients gradients = backward(y);
  gradients.clear();
  EXPECT_LT(memory::statistics().bytes_in_use + 300'000, before);  // though y still stands
}

TEST(Tape, AGraphIsUsedOnce) {
  const Var x = Var::leaf(vector_of({1, 2}));
  const Var y = sum(tanh(x));
  backward(y);
  EXPECT_EQ(message_of([&] { backward(y); }),
            "[backward] the graph of [sum] was already used; compute the value again");
  const Var h = tanh(x);
  backward(sum(h));
  EXPECT_EQ(message_of([&] { backward(sum(square(h))); }),
            "[backward] the graph of [tanh] was already used; compute the value again");
}

TEST(Tape, SeedsMustFit) {
  const Var x = Var::leaf(Tensor(Shape{2, 3}, Real{1}));
  EXPECT_EQ(message_of([&] { backward(tanh(x)); }), "[backward] a loss is one number, not shape [2, 3]");
  Gradients gradients;
  EXPECT_EQ(message_of([&] {
              backward(tanh(x), Tensor(Shape{3, 2}, Real{1}), gradients);
            }),
            "[backward] the seed has shape [3, 2], the value [2, 3]");
}

TEST(Tape, AnExceptionInAClosureLeavesTheEngineClean) {
  const Var x = Var::leaf(vector_of({1, 2}));
  const Var early = square(x), other = negate(x);
  const Var bad = record("bad", early.value(), {early},
                         [](const Tensor&) -> std::vector<Gradient> { throw Error("[bad] on purpose"); });
  Gradients gradients;
  // `other` and `early` wait in the queue with gradients of their own when `bad`, the newest below the sum, throws.
  EXPECT_EQ(message_of([&] { backward(sum(bad + other + early), gradients); }), "[bad] on purpose");
  // Nothing of the failed run is left behind in the nodes.
  Gradients fresh;
  backward(sum(early + other), fresh);
  EXPECT_EQ(values_of(fresh.of(x)), (Values{2 - 1, 4 - 1}));
}

// The parameters of a small network with most kinds of op in it.
struct SmallNetwork {
  Var table = Var::leaf(random_tensor(Shape{11, 8}, 1)), weight = Var::leaf(random_tensor(Shape{8, 8}, 2));
  Var bias = Var::leaf(random_tensor(Shape{8}, 3)), gain = Var::leaf(Tensor(Shape{8}, Real{1}));
  Var out = Var::leaf(random_tensor(Shape{8, 11}, 4));
  std::vector<Var> all = {table, weight, bias, gain, out};

  // ids, targets [batch, time]
  Var loss(const Ids& ids, const Ids& targets) const {
    const Var x = embedding(table, ids);
    const Var h = linear(x, weight, bias, Activation::tanh);
    const Var weights = softmax(matmul(h, h, {false, true}));
    return cross_entropy(linear(layer_norm(matmul(weights, h) + x, gain, bias), out), targets);
  }
};

TEST(Tape, AnEmptyBatchHasALossOfZeroAndZeroGradients) {
  const SmallNetwork network;
  for (const Shape& shape : {Shape{0, 5}, Shape{3, 0}}) {
    const Var loss = network.loss(Ids(shape), Ids(shape));
    EXPECT_EQ(loss.value().item(), 0);
    const Gradients gradients = backward(loss);
    for (const Var& parameter : network.all)
      for (const Real value : values_of(gradients.of(parameter))) EXPECT_EQ(value, 0);
  }
}

// Σ over nothing is 0, whatever stands around it.
TEST(Tape, ProductsOverAnEmptyAxisAreZeros) {
  const Var x = Var::leaf(Tensor(Shape{2, 3, 0})), w = Var::leaf(Tensor(Shape{0, 4}));
  const Var bias = Var::leaf(vector_of({1, 2, 3, 4}));
  const Var y = matmul(x, w) + linear(x, w, bias);
  ASSERT_EQ(y.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(values_of(slice(reshape(y, Shape{6, 4}), 0, 5, 6).value()), (Values{1, 2, 3, 4}));
  const Gradients gradients = backward(sum(y));
  EXPECT_EQ(gradients.of(w).shape(), w.shape());
  EXPECT_EQ(values_of(gradients.of(bias)), (Values{6, 6, 6, 6}));

  const Var left = Var::leaf(Tensor(Shape{2, 3, 2}, Real{1})), none = Var::leaf(Tensor(Shape{2, 0}));
  const Gradients of_nothing = backward(sum(matmul(left, none)) + sum(linear(left, none)));
  EXPECT_EQ(values_of(of_nothing.of(left)), Values(12, 0));
}

Ids some_ids(const Shape& shape, std::uint64_t seed) {
  Ids ids(shape);
  RandomSequence random(RandomKey{seed, 9});
  for (std::int32_t& id : ids.values()) id = static_cast<std::int32_t>(random.below(11));
  return ids;
}

TEST(Tape, ATrainingLoopStopsAskingTheSystemForMemory) {
  SmallNetwork network;
  std::uint64_t asked = 0;
  Real first = 0, last = 0;
  for (int step = 0; step < 40; ++step) {
    const Ids ids = some_ids(Shape{4, 6}, 5);
    const Var loss = network.loss(ids, ids);
    const Gradients gradients = backward(loss);
    for (Var& parameter : network.all) {
      const Tensor gradient = gradients.of(parameter).contiguous();
      for (Index i = 0; i < gradient.size(); ++i) parameter.value().data()[i] -= Real{0.1} * gradient.data()[i];
    }
    last = loss.value().item();
    if (step == 0) first = last;
    if (step == 4) asked = memory::statistics().system_allocations;
  }
  EXPECT_EQ(memory::statistics().system_allocations, asked);
  EXPECT_LT(last, first);  // and it did train
}

// Whoever takes a gradient away when its leaf is done has all of it; what nobody takes is left in place.
TEST(Tape, ALeafIsToldOfWhenItsGradientIsWhole) {
  const SmallNetwork network;
  const Ids ids = some_ids(Shape{4, 6}, 5);
  const Gradients expected = backward(network.loss(ids, ids));
  Gradients gradients;
  std::vector<const Node*> told;
  std::vector<Values> taken;
  backward(network.loss(ids, ids), gradients, [&](const NodePointer& leaf) {
    told.push_back(leaf.get());
    Gradient* gradient = gradients.find(leaf);
    ASSERT_NE(gradient, nullptr);
    if (told.size() % 2 == 0) taken.push_back(values_of(std::exchange(*gradient, {}).to_dense(leaf->shape)));
  });
  ASSERT_EQ(told.size(), network.all.size());
  std::size_t number = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto leaf = std::find_if(network.all.begin(), network.all.end(),
                                   [&](const Var& parameter) { return parameter.node().get() == told[i]; });
    ASSERT_NE(leaf, network.all.end()) << "told twice of one, or of another leaf";
    const Values found = i % 2 == 1 ? taken[number++] : values_of(gradients.of(*leaf));
    EXPECT_EQ(found, values_of(expected.of(*leaf))) << "leaf " << i;
    EXPECT_EQ(std::count(told.begin(), told.end(), told[i]), 1);
  }
}

// A leaf that is used early and late is done only after its first use.
TEST(Tape, AnEarlyUseOfALeafIsWaitedFor) {
  const Var early = Var::leaf(Tensor(Shape{2}, {1, 2})), late = Var::leaf(Tensor(Shape{2}, {3, 4}));
  const Var first = early * early, second = first * late, third = second + early;
  std::vector<const Node*> told;
  Gradients gradients;
  backward(sum(third), gradients, [&](const NodePointer& leaf) { told.push_back(leaf.get()); });
  EXPECT_EQ(told, (std::vector<const Node*>{late.node().get(), early.node().get()}));
  EXPECT_EQ(values_of(gradients.of(early)), (Values{7, 17}));  // 2 early late + 1
}

TEST(Tape, TwoThreadsRunTheirOwnGraphsOverSharedLeaves) {
  const SmallNetwork network;
  const auto run = [&](std::uint64_t seed) {
    set_thread_count(1);  // of this thread alone
    std::vector<Values> results;
    for (std::uint64_t i = 0; i < 30; ++i) {
      const Gradients gradients =
          backward(network.loss(some_ids(Shape{2, 3}, seed + i), some_ids(Shape{2, 3}, seed + i + 1)));
      for (const Var& parameter : network.all) results.push_back(values_of(gradients.of(parameter)));
    }
    return results;
  };
  std::vector<Values> alone[2], together[2];
  std::thread([&] { alone[0] = run(100); }).join();
  std::thread([&] { alone[1] = run(200); }).join();
  std::thread first([&] { together[0] = run(100); }), second([&] { together[1] = run(200); });
  first.join();
  second.join();
  EXPECT_EQ(together[0], alone[0]);
  EXPECT_EQ(together[1], alone[1]);
}

}  // namespace
}  // namespace heed::test
