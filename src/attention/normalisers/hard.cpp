#include "heed/attention/attention.h"
#include "heed/attention/normalisers/temperature.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"

namespace heed {
namespace {

// Xu et al. 2015, hard attention. In training one position is sampled from softmax(e / temperature), as the authors'
// code has it, and its weight is 1; the gradient reaches e through log_probability and entropy (losses.h: reinforce).
// With probability soft_mixing a whole batch, with all its steps, uses the distribution itself instead. When running,
// the most probable position is taken, or with `expected` the mean of all by their probabilities.
class Hard final : public Normaliser {
 public:
  explicit Hard(const AttentionOptions& options)
      : temperature_("hard", options.temperature), soft_mixing_(options.soft_mixing), expected_(options.expected) {
    require(soft_mixing_ >= 0 && soft_mixing_ <= 1, "[hard] soft mixing {} is outside [0, 1]", soft_mixing_);
  }
  Weighted operator()(const Var& scores, const Mask& visible, const Query& query) const override {
    const Var e = temperature_(scores);
    const Var p = softmax(e, visible);
    const Var log_p = log_softmax(e, visible);
    Weighted result;
    // What is not visible has a log-probability of huge size: zero instead, or its gradient could overflow.
    result.entropy = negate(sum(p * (log_p * Var(as_numbers(visible, scores.shape()))), -1));
    if (query.training ? RandomSequence(query.batch_key).uniform() < soft_mixing_ : expected_) {
      result.weights = p;
      return result;
    }
    RandomSequence random(query.key);
    const Index m = scores.size(-1), rows = m == 0 ? 0 : scores.size() / m;
    Tensor chosen(scores.shape(), Real{0});
    Ids picks(scores.shape().without(-1), 0);
    for (Index row = 0; row < rows; ++row) {
      const Real* weights = p.value().data() + row * m;
      const Index pick = query.training ? sample(weights, m, random.uniform()) : largest(weights, m);
      picks.data()[row] = static_cast<std::int32_t>(pick);
      if (weights[pick] > 0) chosen.data()[row * m + pick] = 1;  // a row with nothing visible stays zero
    }
    result.weights = Var(chosen);
    if (query.training) result.log_probability = pick(log_p, picks);
    return result;
  }

 private:
  static Index sample(const Real* weights, Index m, double u) {
    Index last = 0;
    for (Index j = 0; j < m; ++j) {
      if (weights[j] <= 0) continue;
      last = j;
      u -= static_cast<double>(weights[j]);
      if (u < 0) break;
    }
    return last;
  }
  static Index largest(const Real* weights, Index m) { return std::max_element(weights, weights + m) - weights; }
  Temperature temperature_;
  double soft_mixing_;
  bool expected_;
};

const RegisterNormaliser hard{
    {"hard", "one sampled position; the most probable when running", "s ~ softmax(e / T), a = onehot(s)",
     "Xu et al. 2015", [](const Scope&, const AttentionOptions& options) { return std::make_unique<Hard>(options); }}};

}  // namespace
}  // namespace heed
