#include "heed/autograd/ops/ctc.h"

#include <cmath>
#include <limits>
#include <vector>

#include "heed/autograd/tensor_math.h"
#include "heed/kernels/ctc.h"
#include "heed/kernels/softmax.h"

namespace heed {
namespace {

void check(const Var& logits, const Ids& lengths, const CtcTargets& targets) {
  require(logits.rank() == 3 && logits.size(2) > 0, "[ctc_loss] logits must be [batch, frames, classes], not {}",
          logits.shape());
  const Index batch = logits.size(0), classes = logits.size(2);
  require((lengths.shape() == Shape{batch}) && (targets.counts.shape() == Shape{batch}) && targets.labels.rank() == 2 &&
              targets.labels.size(0) == batch,
          "[ctc_loss] lengths {}, labels {} and their counts {} do not fit logits {}", lengths.shape(),
          targets.labels.shape(), targets.counts.shape(), logits.shape());
  require(targets.blank >= 0 && targets.blank < classes, "[ctc_loss] blank {} is outside the {} classes", targets.blank,
          classes);
  for (Index b = 0; b < batch; ++b) {
    const Index length = lengths.at({b}), count = targets.counts.at({b});
    require(length >= 0 && length <= logits.size(1), "[ctc_loss] a length of {} is outside 0..{}", length,
            logits.size(1));
    require(count >= 0 && count <= targets.labels.size(1), "[ctc_loss] a count of {} is outside 0..{}", count,
            targets.labels.size(1));
    for (Index i = 0; i < count; ++i) {
      const std::int32_t label = targets.labels.at({b, i});
      require(label >= 0 && label < classes && label != targets.blank,
              "[ctc_loss] label {} is the blank {} or outside the {} classes", label, targets.blank, classes);
    }
  }
}

}  // namespace

// The loss is a number, so that backward has but to scale the gradient, which is made where α is at hand.
Var ctc_loss(const Var& logits, const Ids& lengths, const CtcTargets& targets, CtcImpossible impossible) {
  check(logits, lengths, targets);
  const Index batch = logits.size(0), frames = logits.size(1), classes = logits.size(2);
  const Ids labels = targets.labels.contiguous();
  Tensor p(logits.shape());
  kernels::log_softmax(batch * frames, classes, logits.value().contiguous().data(), {}, p.data());
  const bool wanted = recording() && logits.wants_gradient();
  Tensor dz = wanted ? Tensor(logits.shape(), Real{0}) : Tensor();
  std::vector<double> alpha, beta;
  double total = 0;
  for (Index b = 0; b < batch; ++b) {
    const Index length = lengths.at({b});
    const kernels::CtcLabels target{labels.data() + b * labels.size(1), targets.counts.at({b}), targets.blank};
    alpha.resize(static_cast<std::size_t>(length * target.places()));
    beta.resize(static_cast<std::size_t>(2 * target.places()));
    const Real* const row = p.data() + b * frames * classes;
    const double log_probability = kernels::ctc_forward(length, classes, row, target, alpha.data());
    if (std::isinf(log_probability) && impossible == CtcImpossible::nothing) continue;
    total -= log_probability;
    if (wanted)
      kernels::ctc_backward(length, classes, row, target, alpha.data(), log_probability, beta.data(),
                            dz.data() + b * frames * classes);
  }
  return record("ctc_loss", Tensor::scalar(static_cast<Real>(total)), {logits},
                [dz](const Tensor& dy) { return grads(scaled(dz, dy.item())); });
}

}  // namespace heed
