#pragma once

#include <functional>
#include <memory>

#include "heed/train/all_reduce.h"
#include "heed/base/thread_pool.h"

namespace heed {

struct WorkersOptions {
  // Pieces that every batch is cut into, over all ranks; a multiple of the number of ranks. The result depends on it.
  Index shards = 1;
  // Threads of this process that run them; 0: as many as ops may use. The result does not depend on it.
  int threads = 0;
  std::uint64_t seed = 1;
};

// Splits a batch over threads (and ranks) and sums the gradients. A shard is always the same piece of work with the
// same random numbers, whichever thread runs it, and the shards are always summed in the same tree,
// ((0 + 1) + (2 + 3)) + ..., so the result is bit-identical for any number of threads.
class Workers {
 public:
  // The loss of one shard, numbered over all ranks; an empty Var if the shard has nothing to do. The body runs on
  // several threads at once: it may read what they share, and parameters, but every other variable on the tape must be
  // its own. Divide by the size of the whole batch, since the shards' losses are summed. A shard's random numbers
  // follow from (seed, step, shard).
  using Body = std::function<Var(Index shard, Random& random)>;
  struct Result {
    double loss;          // sum over shards
    Gradients gradients;  // of the parameters
  };

  explicit Workers(const WorkersOptions& options, std::shared_ptr<AllReduce> ranks = std::make_shared<SingleProcess>());

  // One step, forward and backward. With one worker thread ops may use all threads, with more than one each has one.
  // The error of the lowest shard that failed is thrown here when all threads have finished.
  Result run(const Parameters& parameters, Index step, const Body& body);

  int threads() const { return pool_->size(); }
  Index shards() const { return options_.shards; }

 private:
  struct Shard {
    Gradients gradients;
    double loss = 0;
  };
  // The same block of one parameter's gradient in all shards that have one.
  struct Block {
    std::span<Real* const> parts;
    Index begin, size;
  };

  void run_shards(const Parameters& parameters, Index step, const Body& body);
  Gradients sum_shards(const Parameters& parameters);
  void forget_shards();
  void for_own_shards(int worker, const std::function<void(Index)>& visit) const;

  WorkersOptions options_;
  std::shared_ptr<AllReduce> ranks_;
  std::vector<Shard> shards_;  // of this rank
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace heed
