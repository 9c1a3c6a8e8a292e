// What the tape costs: a chain of 1000 ops on 64 numbers, where the arithmetic itself is next to nothing.
#include "engine/case.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/matrix.h"

namespace heed::bench {
namespace {

const Case op_chain("op-chain", [] {
  const Var x = Var::leaf(filled({64}, 1)), b = Var::leaf(filled({64}, 2, 0.01f));
  const Tensor dy = filled({64}, 3);
  return [=](Results* results) {
    Var y = x;
    for (int i = 0; i < 500; ++i) y = scale(y, 0.99f) + b;
    Gradients gradients;
    backward(y, dy, gradients);
    if (results) *results = {{"y", y.value()}, {"dx", gradients.of(x)}, {"db", gradients.of(b)}};
  };
});

// Next to nothing, but it loads what oneDNN makes late: the memory of the libraries is read after it.
const Case warm_up("warm-up", [] {
  const Var x = Var::leaf(filled({8, 8}, 1)), w = Var::leaf(filled({8, 8}, 2));
  return [=](Results*) { backward(cross_entropy(linear(x, w), Ids({8}, 0))); };
});

}  // namespace
}  // namespace heed::bench
