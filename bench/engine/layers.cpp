// Single ops and layers, forward and backward.
#include "engine/case.h"
#include "engine/differentiated.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/norm.h"
#include "heed/autograd/ops/softmax.h"

namespace heed::bench {
namespace {

const Case linear_forward("linear-forward", [] {
  const Tensor x = filled({2048, 512}, 1), w = filled({512, 2048}, 2, 0.05f), b = filled({2048}, 3);
  return [=](Results* results) {
    const NoGradient no_gradient;
    const Var y = linear(x, w, b);
    if (results) *results = {{"y", y.value()}};
  };
});

const Case linear_training("linear-training", [] {
  return differentiated({{"dx", Var::leaf(filled({2048, 512}, 1))},
                         {"dw", Var::leaf(filled({512, 2048}, 2, 0.05f))},
                         {"db", Var::leaf(filled({2048}, 3))}},
                        filled({2048, 2048}, 4),
                        [](const auto& in) { return linear(in[0].var, in[1].var, in[2].var); });
});

const Case layer_norm_training("layer-norm", [] {
  return differentiated({{"dx", Var::leaf(filled({4096, 512}, 1))},
                         {"dgain", Var::leaf(filled({512}, 2))},
                         {"dbias", Var::leaf(filled({512}, 3))}},
                        filled({4096, 512}, 4),
                        [](const auto& in) { return layer_norm(in[0].var, in[1].var, in[2].var); });
});

const Case softmax_training("softmax", [] {
  return differentiated({{"dx", Var::leaf(filled({2048, 2048}, 1, 4))}}, filled({2048, 2048}, 2),
                        [](const auto& in) { return softmax(in[0].var); });
});

const Case cross_entropy_training("cross-entropy", [] {
  const Ids ids = filled_ids({1024}, 2, 32000);
  return differentiated({{"dx", Var::leaf(filled({1024, 32000}, 1, 4))}}, Tensor::scalar(1),
                        [ids](const auto& in) { return cross_entropy(in[0].var, ids, {.label_smoothing = 0.1}); });
});

}  // namespace
}  // namespace heed::bench
