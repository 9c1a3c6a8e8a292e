#include "heed/train/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/tensor_math.h"
#include "heed/base/threads.h"
#include "heed/train/clip.h"
#include "heed/train/optimiser.h"

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
struct Model {
  explicit Model(Index columns = kWidth) : width(columns) {
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
    const Model model(width);
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
  const Model model;
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
  const Model model;
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
  const Model model;
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
  const Model model;
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
  const Model model;
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
  Model model(300);
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

// Two ranks as two threads of the test: each adds its buffers to what the first one left, in the order of ranks.
class TwoRanks {
 public:
  class Rank final : public AllReduce {
   public:
    Rank(TwoRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return 2; }
    void sum(std::span<const std::span<Real>> buffers) override { all_.sum(rank_, buffers); }

   private:
    TwoRanks& all_;
    int rank_;
  };

 private:
  void sum(int rank, std::span<const std::span<Real>> buffers) {
    given_[rank] = buffers;
    barrier_.arrive_and_wait();
    if (rank == 0) {
      same_form_ = given_[0].size() == given_[1].size();
      for (std::size_t i = 0; same_form_ && i < buffers.size(); ++i) {
        same_form_ = given_[0][i].size() == given_[1][i].size();
        for (std::size_t j = 0; same_form_ && j < buffers[i].size(); ++j)
          given_[0][i][j] = given_[1][i][j] = given_[0][i][j] + given_[1][i][j];
      }
    }
    barrier_.arrive_and_wait();
    require(same_form_, "[test] the ranks gave different buffers");
  }
  std::barrier<> barrier_{2};
  std::span<const std::span<Real>> given_[2];
  bool same_form_ = true;
};

TEST(Workers, RanksAreTheSameAsOneProcess) {
  const Model alone;
  Workers single({.shards = 4, .threads = 1});
  const Workers::Result expected = single.run(alone.parameters, 7, alone.body(4));

  TwoRanks ranks;
  const Model models[2];  // each rank has its own weights
  Workers::Result results[2];
  std::vector<Index> seen[2];
  const auto run = [&](int rank) {
    Workers workers({.shards = 4, .threads = 1}, std::make_shared<TwoRanks::Rank>(ranks, rank));
    results[rank] = workers.run(models[rank].parameters, 7, [&](Index shard, Random& random) {
      seen[rank].push_back(shard);
      return models[rank].body(4)(shard, random);
    });
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(seen[0], (std::vector<Index>{0, 1}));
  EXPECT_EQ(seen[1], (std::vector<Index>{2, 3}));
  // The dense sums are the same tree: bit-identical. The rows of the table are summed rank by rank.
  EXPECT_EQ(results[0].loss, results[1].loss);
  EXPECT_NEAR(results[0].loss, expected.loss, 1e-5 * expected.loss);
  EXPECT_EQ(flat(models[0].parameters, results[0].gradients), flat(models[1].parameters, results[1].gradients));
  for (const char* name : {"scale", "a", "b"}) {
    const Tensor a = results[0].gradients.of(models[0].parameters.at(name));
    const Tensor b = expected.gradients.of(alone.parameters.at(name));
    for (Index i = 0; i < a.size(); ++i) ASSERT_EQ(a.data()[i], b.data()[i]) << name;
  }
  const Tensor a = results[0].gradients.of(models[0].table), b = expected.gradients.of(alone.table);
  for (Index i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], 1e-6);
  EXPECT_EQ(results[0].gradients.find(models[0].parameters.at("unused")), nullptr);
}

TEST(Workers, AFailureOfOneRankFailsAll) {
  TwoRanks ranks;
  const Model models[2];
  std::string errors[2];
  const auto run = [&](int rank) {
    Workers workers({.shards = 2, .threads = 1}, std::make_shared<TwoRanks::Rank>(ranks, rank));
    try {
      workers.run(models[rank].parameters, 1, [&](Index shard, Random& random) {
        require(shard != 1, "[test] shard {} is bad", shard);
        return models[rank].body(2)(shard, random);
      });
    } catch (const Error& error) {
      errors[rank] = error.what();
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(errors[0], "[workers] 1 of 2 ranks failed in this step");
  EXPECT_EQ(errors[1], "[test] shard 1 is bad");
  EXPECT_THROW(Workers({.shards = 3}, std::make_shared<TwoRanks::Rank>(ranks, 0)), Error);
}

}  // namespace
}  // namespace heed
