#include "heed/attention/attention.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/sparse_weights.h"

namespace heed {
namespace {

// Raffel et al. 2017.   p_j = σ(e_j),  q_j = (1 - p_{j-1}) q_{j-1} + α'_j,  α_j = p_j q_j: a scan that goes on from
// where the last step stopped. Σ α <= 1: what is missing passed the end. The first step starts at the first position.
class Monotonic final : public Normaliser {
 public:
  Carries carries() const override { return {.weights = true}; }
  Weighted operator()(const Var& scores, const Mask& visible, const Query& query) const override {
    const Var p = sigmoid(scores) * Var(as_numbers(visible, scores.shape()));
    if (query.past && query.past->weights) return {monotonic_weights(p, query.past->weights), {}, {}};
    Tensor start(scores.shape(), Real{0});
    for (Index at = 0; at < start.size(); at += scores.size(-1)) start.data()[at] = 1;
    return {monotonic_weights(p, Var(start)), {}, {}};
  }
};

const RegisterNormaliser monotonic{
    {"monotonic", "a scan that never goes back", "q_j = (1-p_{j-1}) q_{j-1} + a'_j, a_j = sigmoid(e_j) q_j",
     "Raffel et al. 2017", [](const Scope&, const AttentionOptions&) { return std::make_unique<Monotonic>(); }}};

}  // namespace
}  // namespace heed
