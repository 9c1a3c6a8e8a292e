#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "heed/nn/parameters.h"
#include "heed/train/ranks.h"

namespace heed {

// Sums the gradients of all shards of all ranks while backward is still at work. A parameter's gradient is given here
// as soon as nothing more will be added to it; parameters travel in buckets of a few megabytes, in the order in which
// the first step finished them, by a thread of its own.
//
// A gradient of rows travels as rows, or as the whole table where that is less; either way the sum is of rows, and the
// same bits.
class GradientExchange {
 public:
  // `shards`: of this rank.
  GradientExchange(std::shared_ptr<Ranks> ranks, Wire wire, std::size_t shards);
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  // A step begins. The parameters are the same at every step.
  void begin(const Parameters& parameters);
  // Of one shard the gradient of a parameter, which is settled: dense and alone in its memory, rows merged, or empty.
  void give(std::size_t shard, std::size_t parameter, Gradient gradient);
  // This rank cannot finish the step.
  void fail();
  // Waits for the sums of all parameters that have a gradient on any rank; nothing if a rank failed.
  Gradients finish();

 private:
  // What a rank has of a parameter.
  enum class Form : std::uint8_t { none, rows, dense };
  struct Head {
    std::int32_t rows;  // how many of them
    Form form;
    bool failed;
  };
  using Bucket = std::vector<std::size_t>;

  void serve();
  void exchange_step();
  bool exchange(const Bucket& bucket);
  bool wait_for(const Bucket& bucket);
  Gradient summed_shards(std::size_t parameter);
  Gradient summed_rows(std::size_t parameter, const Gradient& own, std::span<const Head> heads);
  void sum_dense(std::span<const std::size_t> parameters);
  void learn_order();

  std::shared_ptr<Ranks> ranks_;
  const Wire wire_;
  const std::size_t shards_;
  std::vector<Var> variables_;      // the parameters
  std::vector<std::size_t> order_;  // in which they travel
  std::vector<Bucket> buckets_;
  bool order_is_learnt_ = false;

  std::mutex
      mutex_;  // guards what follows; `sums_` and `given_` of a parameter belong to the thread once all shards gave
  std::condition_variable changed_;
  std::vector<std::vector<Gradient>> given_;  // by parameter and shard
  std::vector<std::size_t> missing_;          // shards that have not given theirs, by parameter
  std::vector<std::size_t> finished_;         // parameters in the order in which they became whole
  std::vector<Gradient> sums_;
  std::exception_ptr error_;
  bool failed_ = false, broken_ = false, working_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace heed
