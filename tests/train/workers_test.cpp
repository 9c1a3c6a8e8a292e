#include "heed/train/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/tensor_math.h"
#include "heed/base/threads.h"
#include "heed/train/clip.h"
#include "heed/train/optimiser.h"
#include "support/thread_ranks.h"

namespace heed {
namespace {

constexpr Index kExamples = 24, kWidth = 19, kTable = 50;

// The sum of all elements, and rows of a table with a sparse gradient: the two ops the test model lacks.
Var total(const Var& x) {
  const Shape shape = x.shape();
  Tensor sum = sum_to(x.value(), Shape{1}).reshape(Shape{});
  return record("test_total", sum, {x}, [shape](const Tensor& dy) { return grads(Tensor(shape, dy.item())); });
}
Var look_up(const Var& table, const Ids& ids) {
  const Index width = table.size(-1);
  Tensor rows(Shape{ids.size(), width});
  for (Index i = 0; i < ids.size(); ++i)
    std::copy_n(table.value().data() + ids.data()[i] * width, width, rows.data() + i * width);
  return record("test_look_up", rows, {table}, [ids](const Tensor& dy) {
    std::vector<Gradient> list;
    list.push_back(Gradient::of_rows(ids, dy));
    return list;
  });
}

// tanh(row ∘ scale + shift)² over a batch, with three kinds of parameter: dense, dense and shared (a and b get the very
// same gradient memory from add), and a sparse table.
struct ShardedModel {
  explicit ShardedModel(Index columns = kWidth) : width(columns) {
    table = parameters.add("table", Shape{kTable, width}, init::normal(1));
    scale = parameters.add("scale", Shape{width}, init::normal(1));
    a = parameters.add("a", Shape{8, width}, init::normal(1));
    b = parameters.add("b", Shape{8, width}, init::normal(1));
    parameters.add("unused", Shape{2}, init::normal(1));
    RandomSequence random(RandomKey{11, 0});
    for (auto& id : ids.values()) id = static_cast<std::int32_t>(random.below(kTable));
  }
  // Examples [begin, end) of the batch.
  Var loss(Index begin, Index end) const {
    const Var rows = look_up(table, ids.slice(0, begin, end));
    const Var shift = Var(Tensor(Shape{8, width}, Real{1})) * (a + b);
    Var sum = total(square(tanh(rows * scale)));
    return (1 / Real{kExamples}) * (sum + Real(end - begin) * total(square(shift)));
  }
  Workers::Body body(Index shards) const {
    return [this, shards](Index shard, Random&) {
      return loss(kExamples * shard / shards, kExamples * (shard + 1) / shards);
    };
  }

  Index width;
  Parameters parameters;
  Var table, scale, a, b;
  Ids ids{Shape{kExamples}};
};

std::vector<Real> flat(const Parameters& parameters, const Gradients& gradients) {
  std::vector<Real> all;
  for (const auto& entry : parameters.entries()) {
    const Tensor gradient = gradients.of(entry.var).contiguous();
    all.insert(all.end(), gradient.values().begin(), gradient.values().end());
  }
  return all;
}

TEST(Workers, TheResultDoesNotDependOnTheThreads) {
  for (const Index width : {kWidth, Index{3000}}) {
    const ShardedModel model(width);
    Workers one({.shards = 4, .threads = 1});
    const Workers::Result expected = one.run(model.parameters, 1, model.body(4));
    for (const int threads : {2, 3, 4, 9}) {
      Workers workers({.shards = 4, .threads = threads});
      EXPECT_EQ(workers.threads(), std::min(threads, 4));
      for (int repeat = 0; repeat < 3; ++repeat) {
        const Workers::Result result = workers.run(model.parameters, 1, model.body(4));
        EXPECT_EQ(result.loss, expected.loss);
        EXPECT_EQ(flat(model.parameters, result.gradients), flat(model.parameters, expected.gradients));
      }
    }
  }
}

TEST(Workers, EqualsTheGradientOfTheWholeBatch) {
  const ShardedModel model;
  const Var loss = model.loss(0, kExamples);
  const std::vector<Real> expected = flat(model.parameters, backward(loss));
  for (const Index shards : {1, 2, 3, 4, 5}) {
    Workers workers({.shards = shards, .threads = 2});
    const Workers::Result result = workers.run(model.parameters, 1, model.body(shards));
    EXPECT_NEAR(result.loss, loss.value().item(), 1e-5 * loss.value().item());
    const std::vector<Real> actual = flat(model.parameters, result.gradients);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-5) << shards << " " << i;
    EXPECT_EQ(result.gradients.find(model.parameters.at("unused")), nullptr);
    ASSERT_NE(result.gradients.find(model.table), nullptr);
    EXPECT_TRUE(result.gradients.find(model.table)->sparse());
  }
}

TEST(Workers, ShardsWithoutWorkOrWithDifferentGradients) {
  const ShardedModel model;
  Workers workers({.shards = 4, .threads = 2});
  // Shard 0 has nothing to do; the table's gradient is sparse in shard 1 and dense in shard 3.
  const Workers::Result result = workers.run(model.parameters, 1, [&](Index shard, Random&) {
    if (shard == 1) return total(look_up(model.table, Ids(Shape{2}, {3, 3})));
    if (shard == 3) return total(model.table);
    return Var();
  });
  const Tensor gradient = result.gradients.of(model.table);
  EXPECT_EQ(gradient.at({3, 0}), 3);
  EXPECT_EQ(gradient.at({4, 0}), 1);
  EXPECT_EQ(result.gradients.find(model.scale), nullptr);
}

TEST(Workers, RandomNumbersBelongToTheShard) {
  const ShardedModel model;
  const auto draw = [&](int threads, std::uint64_t seed, Index step) {
    Workers workers({.shards = 4, .threads = threads, .seed = seed});
    std::vector<std::uint32_t> drawn(4);
    workers.run(model.parameters, step, [&](Index shard, Random& random) {
      random.next();
      drawn[static_cast<std::size_t>(shard)] = RandomSequence(random.next()).bits();
      return Var();
    });
    return drawn;
  };
  const auto first = draw(1, 1, 1);
  EXPECT_EQ(draw(2, 1, 1), first);
  EXPECT_EQ(draw(3, 1, 1), first);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 4u);
  EXPECT_NE(draw(2, 2, 1), first);
  EXPECT_NE(draw(2, 1, 2), first);
}

TEST(Workers, AnErrorReachesTheCallerAndTheNextStepWorks) {
  const ShardedModel model;
  Workers workers({.shards = 4, .threads = 3});
  const std::vector<Real> expected = flat(model.parameters, workers.run(model.parameters, 1, model.body(4)).gradients);
  const std::size_t in_use = memory::statistics().bytes_in_use;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::atomic<int> started{0};
    try {
      workers.run(model.parameters, 1, [&](Index shard, Random&) -> Var {
        ++started;
        require(shard != 1 && shard != 3, "[test] shard {} is bad", shard);
        return model.loss(0, 4);
      });
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "[test] shard 1 is bad");  // the lowest
    }
    EXPECT_GE(started, 3);
  }
  EXPECT_EQ(memory::statistics().bytes_in_use, in_use);  // no gradient was left behind
  EXPECT_EQ(flat(model.parameters, workers.run(model.parameters, 1, model.body(4)).gradients), expected);
  EXPECT_THROW(workers.run(model.parameters, 1, [](Index, Random&) -> Var { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(Workers, OpsOfManyWorkersUseOneThreadEach) {
  const ShardedModel model;
  const int before = thread_count();
  set_thread_count(3);
  const auto counts = [&](const WorkersOptions& options) {
    std::vector<int> seen(static_cast<std::size_t>(options.shards));
    Workers(options).run(model.parameters, 1, [&](Index shard, Random&) {
      seen[static_cast<std::size_t>(shard)] = thread_count();
      return Var();
    });
    return seen;
  };
  EXPECT_EQ(counts({.shards = 1, .threads = 2}), std::vector<int>{3});
  EXPECT_EQ(counts({.shards = 2, .threads = 1}), (std::vector<int>{3, 3}));
  EXPECT_EQ(counts({.shards = 4, .threads = 2}), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(thread_count(), 3);
  EXPECT_EQ(Workers({.shards = 8}).threads(), 3);
  set_thread_count(before);
}

TEST(Workers, TrainingStopsAllocatingAfterTheFirstSteps) {
  ShardedModel model(300);
  Workers workers({.shards = 4, .threads = 2});
  Optimiser optimiser;
  double first_loss = 0, last_loss = 0;
  const auto train = [&](Index from, Index to) {
    for (Index step = from; step <= to; ++step) {
      const Workers::Result result = workers.run(model.parameters, step, model.body(4));
      const Real factor = clip_factor(global_norm(result.gradients, model.parameters), 1);
      optimiser.step(model.parameters, result.gradients, Real(0.01), factor);
      (step == 1 ? first_loss : last_loss) = result.loss;
    }
  };
  train(1, 5);
  const std::uint64_t allocations = memory::statistics().system_allocations;
  train(6, 60);
  EXPECT_EQ(memory::statistics().system_allocations, allocations);
  EXPECT_LT(last_loss, 0.9 * first_loss);
}

TEST(Workers, RefuseNonsense) {
  EXPECT_THROW(Workers({.shards = 0}), Error);
  EXPECT_THROW(Workers({.shards = 1, .threads = -1}), Error);
  EXPECT_THROW(ThreadPool(0), Error);
}

// Each rank has weights of its own.
std::deque<ShardedModel> models_of(int size, Index width = kWidth) {
  std::deque<ShardedModel> models;
  for (int rank = 0; rank < size; ++rank) models.emplace_back(width);
  return models;
}

// What the ranks have of a step of the model.
std::vector<Workers::Result> run_ranks(int size, const WorkersOptions& options, const std::deque<ShardedModel>& models,
                                       const std::function<Workers::Body(int rank)>& body, int steps = 1) {
  std::vector<Workers::Result> results(static_cast<std::size_t>(size));
  test::ThreadRanks(size).run([&](const std::shared_ptr<Ranks>& ranks) {
    const auto rank = static_cast<std::size_t>(ranks->rank());
    Workers workers(options, ranks);
    for (int step = 0; step < steps; ++step)  // the first learns in which order gradients travel
      results[rank] = workers.run(models[rank].parameters, 7, body(ranks->rank()));
  });
  return results;
}

void expect_same_result(const Workers::Result& result, const ShardedModel& model, const Workers::Result& expected,
                        const ShardedModel& alone) {
  EXPECT_EQ(result.loss, expected.loss);
  EXPECT_EQ(flat(model.parameters, result.gradients), flat(alone.parameters, expected.gradients));
  EXPECT_EQ(result.gradients.find(model.parameters.at("unused")), nullptr);
  EXPECT_EQ(result.gradients.find(model.table)->sparse(), expected.gradients.find(alone.table)->sparse());
}

TEST(Workers, RanksAreTheSameAsOneProcess) {
  // A narrow table travels as rows; of a wide one with few rows most are touched, and it travels whole.
  for (const Index width : {kWidth, Index{3000}})
    for (const Index shards : {4, 8, 12}) {
      const ShardedModel alone(width);
      Workers single({.shards = shards, .threads = 1});
      const Workers::Result expected = single.run(alone.parameters, 7, alone.body(shards));
      for (const int size : {2, 3, 4}) {
        if (shards % size != 0 || (shards / size & (shards / size - 1)) != 0) continue;
        const std::deque<ShardedModel> models = models_of(size, width);
        for (const int threads : {1, 2}) {
          const auto results = run_ranks(
              size, {.shards = shards, .threads = threads}, models,
              [&](int rank) { return models[static_cast<std::size_t>(rank)].body(shards); }, 3);
          for (std::size_t rank = 0; rank < results.size(); ++rank)
            expect_same_result(results[rank], models[rank], expected, alone);
        }
      }
    }
}

TEST(Workers, RanksWithoutWorkOrWithDifferentGradients) {
  // As in one process: shard 0 has nothing, the table is rows in shard 1 and dense in shard 3.
  const auto body_of = [](const ShardedModel& model) {
    return [&model](Index shard, Random&) {
      if (shard == 1) return total(look_up(model.table, Ids(Shape{2}, {3, 3})));
      if (shard == 3) return total(model.table);
      return shard == 2 ? total(square(model.scale)) : Var();
    };
  };
  const ShardedModel alone;
  Workers single({.shards = 4, .threads = 1});
  const Workers::Result expected = single.run(alone.parameters, 7, body_of(alone));
  for (const int size : {2, 4}) {
    const std::deque<ShardedModel> models = models_of(size);
    const auto results = run_ranks(size, {.shards = 4, .threads = 1}, models,
                                   [&](int rank) { return body_of(models[static_cast<std::size_t>(rank)]); });
    for (std::size_t rank = 0; rank < results.size(); ++rank) {
      expect_same_result(results[rank], models[rank], expected, alone);
      EXPECT_EQ(results[rank].gradients.find(models[rank].a), nullptr);
    }
  }
}

TEST(Workers, RanksThatSendBf16AgreeAndAreClose) {
  const ShardedModel alone(3000);
  Workers single({.shards = 4, .threads = 1});
  const Workers::Result expected = single.run(alone.parameters, 7, alone.body(4));
  const std::vector<Real> exact = flat(alone.parameters, expected.gradients);
  for (const int size : {2, 4}) {
    const std::deque<ShardedModel> models = models_of(size, 3000);
    const auto results = run_ranks(size, {.shards = 4, .threads = 1, .wire = Wire::bf16}, models,
                                   [&](int rank) { return models[static_cast<std::size_t>(rank)].body(4); });
    const std::vector<Real> first = flat(models[0].parameters, results[0].gradients);
    for (std::size_t rank = 1; rank < results.size(); ++rank)
      EXPECT_EQ(flat(models[rank].parameters, results[rank].gradients), first);
    EXPECT_NE(first, exact);
    for (std::size_t i = 0; i < exact.size(); ++i) ASSERT_NEAR(first[i], exact[i], 0.02 * std::abs(exact[i]) + 1e-3);
  }
}

TEST(Workers, AFailureOfOneRankFailsAll) {
  const std::deque<ShardedModel> models = models_of(2);
  std::string errors[2];
  test::ThreadRanks(2).run([&](const std::shared_ptr<Ranks>& ranks) {
    const auto rank = static_cast<std::size_t>(ranks->rank());
    Workers workers({.shards = 2, .threads = 1}, ranks);
    const auto step = [&](bool bad) {
      return workers.run(models[rank].parameters, 1, [&](Index shard, Random& random) {
        require(!bad || shard != 1, "[test] shard {} is bad", shard);
        return models[rank].body(2)(shard, random);
      });
    };
    try {
      step(true);
    } catch (const ErrorOfRanks& error) {
      errors[rank] = error.what();
    }
    EXPECT_GT(step(false).loss, 0);  // and afterwards they go on
  });
  EXPECT_EQ(errors[0], "rank 1 of 2 (machine1): [test] shard 1 is bad");
  EXPECT_EQ(errors[1], errors[0]);
}

TEST(Workers, ShardsMustFitTheRanks) {
  EXPECT_NO_THROW(check_shards(5, 1));
  EXPECT_NO_THROW(check_shards(12, 3));
  for (const auto& [shards, ranks] : {std::pair{3, 2}, {6, 2}, {2, 4}, {0, 1}})
    EXPECT_THROW(check_shards(shards, ranks), Error) << shards << " " << ranks;
}

}  // namespace
}  // namespace heed
