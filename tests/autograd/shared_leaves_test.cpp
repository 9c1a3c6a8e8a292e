#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "heed/autograd/ops/elementwise.h"

namespace heed {
namespace {

// Leaves may be shared by threads, since backward never writes to them: each thread gets the gradients it would have
// got alone, and memory made in one thread may be freed in another.
TEST(Threads, ShareLeavesButNotGradients) {
  const Var w = Var::leaf(Tensor(Shape{300}, Real(0.5)));
  constexpr int kThreads = 4, kSteps = 20;
  std::vector<Tensor> sums(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&w, &sum = sums[static_cast<std::size_t>(thread)], thread] {
        Gradients gradients;
        for (int step = 0; step < kSteps; ++step) {
          const Var y = scale(square(w), static_cast<Real>(thread + 1));  // dy/dw = 2 (thread + 1) w
          backward(y, Tensor(y.shape(), Real(1)), gradients);
        }
        sum = gradients.of(w);
      });
    }
  }
  for (int thread = 0; thread < kThreads; ++thread) {
    for (const Real value : sums[static_cast<std::size_t>(thread)].values()) EXPECT_EQ(value, (thread + 1) * kSteps);
  }
}

}  // namespace
}  // namespace heed
