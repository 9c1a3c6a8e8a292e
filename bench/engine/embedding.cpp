// A large table of which a batch touches few rows: look-up, backward and one step of Adam.
#include <memory>

#include "engine/case.h"
#include "heed/autograd/ops/embedding.h"
#include "heed/nn/parameters.h"
#include "heed/train/optimiser.h"

namespace heed::bench {
namespace {

Step embedding_step(bool lazy) {
  const auto parameters = std::make_shared<Parameters>();
  const Var table = parameters->add("table", {32000, 512}, filling(1, 1));
  const Ids ids = filled_ids({4096}, 2, 32000);
  const Tensor dy = filled({4096, 512}, 3);
  const auto adam = std::make_shared<Optimiser>(
      OptimiserOptions{.algorithm = Adam{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9}, .lazy = lazy});
  return [=](Results* results) {
    Gradients gradients;
    backward(embedding(table, ids), dy, gradients);
    adam->step(*parameters, gradients, 1e-3f);
    if (results) *results = {{"table", table.value()}};
  };
}

// Exact: rows that the batch did not touch still move by their momentum, as with a dense gradient.
const Case exact("embedding-adam", [] { return embedding_step(false); });
const Case lazy("embedding-lazy-adam", [] { return embedding_step(true); });

}  // namespace
}  // namespace heed::bench
