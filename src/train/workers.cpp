#include "heed/train/workers.h"

#include <algorithm>

#include "heed/base/threads.h"
#include "heed/kernels/elementwise.h"
#include "heed/train/rows.h"

namespace heed {
namespace {

// Makes every parameter's gradient ready to be summed in place: dense ones alone in their memory, rows merged.
void settle(const Parameters& parameters, Gradients& gradients) {
  for (const Parameters::Entry& entry : parameters.entries()) {
    Gradient* gradient = gradients.find(entry.var);
    if (!gradient || gradient->empty()) continue;
    if (gradient->sparse()) {
      const Tensor& table = entry.var.value();
      const Index rows = table.size(0);
      RowGradient merged = merged_rows(*gradient, rows, table.size() / std::max<Index>(rows, 1), "workers");
      *gradient = Gradient::of_rows(std::move(merged.ids), std::move(merged.rows));
    } else {
      Tensor dense = std::exchange(*gradient, {}).to_dense(entry.var.shape());
      *gradient = Gradient(dense.unique() && dense.contiguous_layout() ? std::move(dense) : dense.copy());
    }
  }
}

}  // namespace

Workers::Workers(const WorkersOptions& options, std::shared_ptr<AllReduce> ranks)
    : options_(options), ranks_(std::move(ranks)) {
  require(options.shards >= 1 && options.shards % ranks_->size() == 0,
          "[workers] {} shards do not divide over {} ranks", options.shards, ranks_->size());
  require(options.threads >= 0, "[workers] the number of threads must be 0 or more, not {}", options.threads);
  const Index own = options.shards / ranks_->size();
  const Index threads = options.threads > 0 ? options.threads : thread_count();
  shards_.resize(static_cast<std::size_t>(own));
  pool_ = std::make_unique<ThreadPool>(static_cast<int>(std::min(threads, own)));
}

Workers::Result Workers::run(const Parameters& parameters, Index step, const Body& body) {
  Result result{0, {}};
  try {
    run_shards(parameters, step, body);
    for (const Shard& shard : shards_) result.loss += shard.loss;
    result.gradients = sum_shards(parameters);
  } catch (...) {
    forget_shards();
    const std::exception_ptr own_error = std::current_exception();
    try {
      all_reduce(*ranks_, parameters, result.gradients, result.loss, true);
    } catch (const Error&) {
      // What the other ranks throw; here the reason is known.
    }
    std::rethrow_exception(own_error);
  }
  forget_shards();
  all_reduce(*ranks_, parameters, result.gradients, result.loss, false);
  return result;
}

// A shard belongs to the same worker at every step: what a thread allocates it also frees and finds again.
void Workers::for_own_shards(int worker, const std::function<void(Index)>& visit) const {
  const Index own = static_cast<Index>(shards_.size()), workers = threads();
  for (Index i = own * worker / workers; i < own * (worker + 1) / workers; ++i) visit(i);
}

void Workers::run_shards(const Parameters& parameters, Index step, const Body& body) {
  const RandomKey key = RandomKey{options_.seed, 0}.derive("workers").derive(static_cast<std::uint64_t>(step));
  const Index first = static_cast<Index>(ranks_->rank() * shards_.size());
  pool_->run([&](int worker) {
    for_own_shards(worker, [&](Index i) {
      Shard& shard = shards_[static_cast<std::size_t>(i)];
      Random random(key.derive(static_cast<std::uint64_t>(first + i)));
      {
        const Var loss = body(first + i, random);
        shard.loss = loss ? static_cast<double>(loss.value().item()) : 0;
        if (loss) backward(loss, shard.gradients);
      }
      settle(parameters, shard.gradients);
    });
  });
}

Gradients Workers::sum_shards(const Parameters& parameters) {
  constexpr Index kBlock = 4096;  // elements: the blocks of a few shards stay in the first-level cache
  Gradients sums;
  std::vector<std::vector<Real*>> parts;
  parts.reserve(parameters.entries().size());
  std::vector<Block> blocks;
  for (const Parameters::Entry& entry : parameters.entries()) {
    std::vector<Gradient*> present;
    for (Shard& shard : shards_)
      if (Gradient* gradient = shard.gradients.find(entry.var); gradient && !gradient->empty())
        present.push_back(gradient);
    if (present.empty()) continue;

    const auto sparse = [](const Gradient* gradient) { return gradient->sparse(); };
    if (std::all_of(present.begin(), present.end(), sparse)) {
      Gradient all;
      for (const Gradient* gradient : present) all.add(*gradient);
      sums.add(
          entry.var, present.size() == 1 ? std::move(all) : [&] {
            RowGradient merged = all.merged();
            return Gradient::of_rows(std::move(merged.ids), std::move(merged.rows));
          }());
      continue;
    }
    std::vector<Real*>& each = parts.emplace_back();
    for (Gradient* gradient : present) {
      if (gradient->sparse()) *gradient = Gradient(gradient->to_dense(entry.var.shape()));
      each.push_back(gradient->dense().data());
    }
    for (Index begin = 0; each.size() > 1 && begin < entry.var.size(); begin += kBlock)
      blocks.push_back({each, begin, std::min(kBlock, entry.var.size() - begin)});
    sums.add(entry.var, std::move(*present.front()));
  }

  const auto add_tree = [](const Block& block) {
    const std::size_t count = block.parts.size();
    for (std::size_t stride = 1; stride < count; stride *= 2)
      for (std::size_t i = 0; i + stride < count; i += 2 * stride)
        kernels::accumulate(block.size, block.parts[i + stride] + block.begin, block.parts[i] + block.begin);
  };
  const Index count = static_cast<Index>(blocks.size()), workers = threads();
  pool_->run([&](int worker) {
    const Index from = count * worker / workers, to = count * (worker + 1) / workers;
    // Ops of a lone worker may use more threads; those of many have one each.
    parallel_for(to - from, 8, [&](Index begin, Index end) {
      for (Index i = from + begin; i < from + end; ++i) add_tree(blocks[static_cast<std::size_t>(i)]);
    });
  });
  return sums;
}

void Workers::forget_shards() {
  pool_->run([&](int worker) { for_own_shards(worker, [&](Index i) { shards_[static_cast<std::size_t>(i)] = {}; }); });
}

}  // namespace heed
