#pragma once

#include <functional>
#include <memory>

#include "heed/base/thread_pool.h"
#include "heed/train/gradient_exchange.h"

namespace heed {

struct WorkersOptions {
  // Pieces that every batch is cut into, over all ranks: 1, 2, 4, ... for each rank, so that their sums fit into one
  // tree (train/sum_tree.h); any number for a process alone. The result depends on it.
  Index shards = 1;
  // Threads of this process that run them; 0: as many as ops may use. The result does not depend on it.
  int threads = 0;
  std::uint64_t seed = 1;
  Wire wire = Wire::full;  // how gradients travel between ranks
};

// An Error that says which numbers of shards fit so many ranks, unless this one does.
void check_shards(Index shards, int ranks);

// Splits a batch over threads (and ranks) and sums the gradients. A shard is always the same piece of work with the
// same random numbers, whichever thread runs it, and the shards are always summed in the same tree,
// ((0 + 1) + (2 + 3)) + ..., so the result is bit-identical for any number of threads and ranks.
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

  explicit Workers(const WorkersOptions& options, std::shared_ptr<Ranks> ranks = std::make_shared<Ranks>());

  // One step, forward and backward. With one worker thread ops may use all threads, with more than one each has one.
  // The error of the lowest shard that failed is thrown here when all threads have finished, on all ranks.
  Result run(const Parameters& parameters, Index step, const Body& body);

  int threads() const { return pool_->size(); }
  Index shards() const { return options_.shards; }

 private:
  struct Shard {
    Gradients gradients;
    double loss = 0;
  };
  // What happens to the gradients of a shard when its loss is there.
  using Backward = std::function<void(const Var& loss, Index shard)>;

  void run_shards(Index step, const Body& body, const Backward& backward);
  void give_gradients(const Parameters& parameters, const Var& loss, Index shard);
  Gradients sum_shards(const Parameters& parameters);
  double sum_losses() const;
  void forget_shards();
  void for_own_shards(int worker, const std::function<void(Index)>& visit) const;

  WorkersOptions options_;
  std::shared_ptr<Ranks> ranks_;
  std::vector<Shard> shards_;  // of this rank
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<GradientExchange> exchange_;  // between ranks
};

}  // namespace heed
