#include "heed/train/workers.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "heed/base/threads.h"
#include "heed/kernels/elementwise.h"
#include "heed/train/rows.h"
#include "heed/train/sum_tree.h"

namespace heed {
namespace {

// A parameter's gradient, ready to be summed in place: dense and alone in its memory, or rows that are merged.
Gradient settled(Gradient gradient, const Tensor& parameter) {
  if (gradient.empty()) return gradient;
  if (gradient.sparse()) {
    const Index rows = parameter.size(0);
    RowGradient merged = merged_rows(gradient, rows, parameter.size() / std::max<Index>(rows, 1), "workers");
    return Gradient::of_rows(std::move(merged.ids), std::move(merged.rows));
  }
  Tensor dense = std::exchange(gradient, {}).to_dense(parameter.shape());
  return dense.unique() && dense.contiguous_layout() ? std::move(dense) : dense.copy();
}

}  // namespace

void check_shards(Index shards, int ranks) {
  require(shards >= 1, "[workers] a batch is cut into at least 1 shard, not {}", shards);
  const Index own = shards / ranks;
  require(
      ranks == 1 || (own * ranks == shards && std::has_single_bit(static_cast<std::uint64_t>(own))),
      "[workers] {} shards do not fit {} ranks: each takes 1, 2, 4 or another power of 2 of them, so --shards is {}, "
      "{}, {}, ...",
      shards, ranks, ranks, 2 * ranks, 4 * ranks);
}

Workers::Workers(const WorkersOptions& options, std::shared_ptr<Ranks> ranks)
    : options_(options), ranks_(std::move(ranks)) {
  check_shards(options.shards, ranks_->size());
  require(options.threads >= 0, "[workers] the number of threads must be 0 or more, not {}", options.threads);
  const Index own = options.shards / ranks_->size();
  const Index threads = options.threads > 0 ? options.threads : thread_count();
  shards_.resize(static_cast<std::size_t>(own));
  pool_ = std::make_unique<ThreadPool>(static_cast<int>(std::min(threads, own)));
  if (!ranks_->alone()) exchange_ = std::make_unique<GradientExchange>(ranks_, options.wire, shards_.size());
}

Workers::Result Workers::run(const Parameters& parameters, Index step, const Body& body) {
  std::exception_ptr error;
  if (exchange_) exchange_->begin(parameters);
  try {
    run_shards(step, body, [&](const Var& loss, Index shard) { give_gradients(parameters, loss, shard); });
  } catch (...) {
    error = std::current_exception();
    if (exchange_) exchange_->fail();
  }
  Result result{0, {}};
  if (exchange_) result.gradients = exchange_->finish();
  if (error) forget_shards();
  ranks_->together([&] {
    if (error) std::rethrow_exception(error);
  });
  result.loss = sum_losses();
  if (!exchange_) result.gradients = sum_shards(parameters);
  forget_shards();
  return result;
}

// A shard belongs to the same worker at every step: what a thread allocates it also frees and finds again.
void Workers::for_own_shards(int worker, const std::function<void(Index)>& visit) const {
  const Index own = static_cast<Index>(shards_.size()), workers = threads();
  for (Index i = own * worker / workers; i < own * (worker + 1) / workers; ++i) visit(i);
}

void Workers::run_shards(Index step, const Body& body, const Backward& backward) {
  const RandomKey key = RandomKey{options_.seed, 0}.derive("workers").derive(static_cast<std::uint64_t>(step));
  const Index first = static_cast<Index>(ranks_->rank() * shards_.size());
  pool_->run([&](int worker) {
    for_own_shards(worker, [&](Index i) {
      Random random(key.derive(static_cast<std::uint64_t>(first + i)));
      const Var loss = body(first + i, random);
      shards_[static_cast<std::size_t>(i)].loss = loss ? static_cast<double>(loss.value().item()) : 0;
      backward(loss, i);
    });
  });
}

// Into the shard; where there are other ranks, each gradient goes on to them as soon as it is whole.
void Workers::give_gradients(const Parameters& parameters, const Var& loss, Index shard) {
  Gradients& gradients = shards_[static_cast<std::size_t>(shard)].gradients;
  const auto& entries = parameters.entries();
  const auto take = [&](const Var& parameter) {
    Gradient* gradient = gradients.find(parameter);
    return gradient ? settled(std::exchange(*gradient, {}), parameter.value()) : Gradient();
  };
  if (!exchange_) {
    if (loss) backward(loss, gradients);
    for (const Parameters::Entry& entry : entries)
      if (Gradient* gradient = gradients.find(entry.var)) *gradient = take(entry.var);
    return;
  }
  std::unordered_map<const Node*, std::size_t> left;
  for (std::size_t i = 0; i < entries.size(); ++i) left.emplace(entries[i].var.node().get(), i);
  const auto give = [&](std::size_t i) { exchange_->give(static_cast<std::size_t>(shard), i, take(entries[i].var)); };
  if (loss)
    backward(loss, gradients, [&](const NodePointer& leaf) {
      const auto found = left.find(leaf.get());
      if (found == left.end()) return;
      give(found->second);
      left.erase(found);
    });
  for (const auto& [node, i] : left) give(i);
}

// In the order of the shards of all ranks, so that it is the same however they are spread.
double Workers::sum_losses() const {
  std::vector<double> own;
  for (const Shard& shard : shards_) own.push_back(shard.loss);
  const std::vector<double> losses = ranks_->gather_equal(std::span<const double>(own));
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

Gradients Workers::sum_shards(const Parameters& parameters) {
  constexpr Index kBlock = 4096;  // elements: the blocks of a few shards stay in the first-level cache
  // What is added to what in one block of one parameter's gradient.
  struct Block {
    const std::vector<std::pair<Real*, const Real*>>* additions;
    Index begin, size;
  };
  Gradients sums;
  std::vector<std::vector<std::pair<Real*, const Real*>>> additions;
  additions.reserve(parameters.entries().size());
  std::vector<Block> blocks;
  for (const Parameters::Entry& entry : parameters.entries()) {
    std::vector<Gradient> parts;
    std::vector<bool> there;
    bool dense = false;
    for (Shard& shard : shards_) {
      // A view: what a worker allocated it frees itself, when the shards are forgotten.
      const Gradient* gradient = shard.gradients.find(entry.var);
      parts.push_back(gradient ? *gradient : Gradient());
      there.push_back(!parts.back().empty());
      dense = dense || parts.back().dense();
    }
    const auto first = static_cast<std::size_t>(std::find(there.begin(), there.end(), true) - there.begin());
    if (first == there.size()) continue;
    if (!dense) {
      sums.add(entry.var, sum_rows_in_tree(parts));
      continue;
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].sparse()) {
        parts[i] = Gradient(parts[i].to_dense(entry.var.shape()));
        *shards_[i].gradients.find(entry.var) = parts[i];  // it lives until it is added
      }
    auto& pairs = additions.emplace_back();
    for (const Addition& addition : additions_in_tree(there))
      pairs.emplace_back(parts[addition.to].dense().data(), parts[addition.from].dense().data());
    for (Index begin = 0; !pairs.empty() && begin < entry.var.size(); begin += kBlock)
      blocks.push_back({&pairs, begin, std::min(kBlock, entry.var.size() - begin)});
    parts[first] = {};
    sums.add(entry.var, std::exchange(*shards_[first].gradients.find(entry.var), {}));
  }

  const Index count = static_cast<Index>(blocks.size()), workers = threads();
  pool_->run([&](int worker) {
    const Index from = count * worker / workers, to = count * (worker + 1) / workers;
    // Ops of a lone worker may use more threads; those of many have one each.
    parallel_for(to - from, 8, [&](Index begin, Index end) {
      for (Index i = from + begin; i < from + end; ++i) {
        const Block& block = blocks[static_cast<std::size_t>(i)];
        for (const auto& [sum, part] : *block.additions)
          kernels::accumulate(block.size, part + block.begin, sum + block.begin);
      }
    });
  });
  return sums;
}

void Workers::forget_shards() {
  pool_->run([&](int worker) { for_own_shards(worker, [&](Index i) { shards_[static_cast<std::size_t>(i)] = {}; }); });
}

}  // namespace heed
