#include "heed/autograd/ops/loss.h"

#include "heed/kernels/softmax.h"

namespace heed {

// Label smoothing (Szegedy et al. 2016): q = (1-ε) [target] + ε/V;  loss = -Σ q log p = log Σ exp x - Σ q x
Var cross_entropy(const Var& logits, const Ids& targets, const CrossEntropy& options) {
  require(logits.rank() >= 1 && logits.size(-1) > 0 && targets.shape() == logits.shape().without(-1),
          "[cross_entropy] targets {} do not fit logits {}", targets.shape(), logits.shape());
  const double smoothing = options.label_smoothing;
  require(smoothing >= 0 && smoothing < 1, "[cross_entropy] label smoothing {} is outside [0, 1)", smoothing);
  const Index classes = logits.size(-1), rows = targets.size();
  require(!options.spare_target || classes > 1, "[cross_entropy] smoothing over other classes needs at least 2");
  const Ids wanted_ids = targets.contiguous();
  Index counted = 0;
  for (const std::int32_t id : wanted_ids.values()) {
    if (id == options.ignore) continue;
    require(id >= 0 && id < classes, "[cross_entropy] target {} is outside the {} classes", id, classes);
    ++counted;
  }

  const double each =
      options.spare_target ? smoothing / static_cast<double>(classes - 1) : smoothing / static_cast<double>(classes);
  const kernels::TargetWeights weights{static_cast<Real>(1 - each * static_cast<double>(classes)),
                                       static_cast<Real>(each), options.ignore};
  const Real factor = options.average && counted > 0 ? Real{1} / static_cast<Real>(counted) : Real{1};

  Tensor x = logits.value().contiguous();
  Tensor log_sum(wanted_ids.shape()), loss(wanted_ids.shape());
  kernels::cross_entropy(rows, classes, x.data(), wanted_ids.data(), weights, log_sum.data(), loss.data());
  double total = 0;
  for (const Real value : loss.values()) total += static_cast<double>(value);

  return record("cross_entropy", Tensor::scalar(static_cast<Real>(total * static_cast<double>(factor))), {logits},
                [x, wanted_ids, log_sum, weights, factor, rows, classes](const Tensor& dy) mutable {
                  const Tensor factors(wanted_ids.shape(), factor * dy.item());
                  Tensor dx = x.unique() ? x : Tensor(x.shape());  // over the logits if no one else holds them
                  kernels::cross_entropy_backward(rows, classes, x.data(), wanted_ids.data(), weights, log_sum.data(),
                                                  factors.data(), dx.data());
                  x = Tensor();
                  return grads(std::move(dx));
                });
}

}  // namespace heed
