#pragma once

#include <memory>

#include "heed/jobs/bundle.h"
#include "heed/metrics/text_reward.h"
#include "heed/search/search.h"

namespace heed {

// Learning from what a metric says of the texts that a model writes, where cross-entropy only knows what people wrote
// (Ranzato et al. 2016; Rennie et al. 2017, self-critical training).
//   L = -E_{y ~ p} r(y),   ∇L ≈ -1/K Σ_k (r(y_k) - b_k) ∇log p(y_k),   b_k = 1/(K-1) Σ_{j≠k} r(y_j)
// K texts are drawn from the model as it is; each is compared with the others (Kool, van Hoof, Welling 2019), so the
// baseline costs no search of its own. Every word may be drawn, the unknown one too: one that never is, is never
// blamed, and gains whatever the others lose.
class RewardLoss {
 public:
  // The bundle outlives it.
  RewardLoss(const Bundle& bundle, Index draws, std::unique_ptr<TextReward> reward);

  struct Result {
    Var loss;               // its value is L, summed over the samples
    Reward positions = {};  // of sampled positions (models/system.h)
  };
  // Of samples with their references, whose inputs `source` has. Draws and dropout come from `random`; `baseline` is
  // that of sampled positions.
  Result operator()(const Source& source, std::span<const EncodedSample> samples, Random& random,
                    std::optional<double> baseline) const;

 private:
  Hypotheses drawn(const Source& source, Index longest, Random& random) const;

  const Bundle& bundle_;
  Index draws_;
  std::unique_ptr<TextReward> reward_;
};

}  // namespace heed
