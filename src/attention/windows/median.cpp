#include "heed/attention/windows/median.h"

#include <numeric>

#include "heed/attention/parts.h"

namespace heed {

std::optional<Index> median_of(const Real* weights, Index m) {
  const double half = std::accumulate(weights, weights + m, 0.0) / 2;
  if (half <= 0) return std::nullopt;
  double sum = 0;
  for (Index j = 0; j < m; ++j) {
    sum += static_cast<double>(weights[j]);
    if (sum >= half) return j;
  }
  return m - 1;
}

namespace {

// Chorowski et al. 2015. Around the median of the last step's weights. The first step, and one after a look at nothing,
// sees the beginning.
class Median final : public Window {
 public:
  explicit Median(Index reach) : reach_(reach) {
    require(reach >= 0, "[median] the half width must not be negative: {}", reach);
  }
  Carries carries() const override { return {.weights = true}; }
  View operator()(const Query& query, const Memory& memory) const override {
    const Index rows = memory.batch() * memory.heads(), m = memory.size();
    Mask visible(Shape{memory.batch(), memory.heads(), 1, m});
    const bool later = query.past && query.past->weights;
    const Tensor last = later ? query.past->weights.value().contiguous() : Tensor();
    for (Index row = 0; row < rows; ++row) {
      const Index middle = later ? median_of(last.data() + row * m, m).value_or(0) : 0;
      for (Index j = 0; j < m; ++j) visible.data()[row * m + j] = std::abs(j - middle) <= reach_;
    }
    return {visible, {}};
  }

 private:
  Index reach_;
};

const RegisterWindow median{
    {"median", "around the median of the last weights", "|j - median(a')| <= w", "Chorowski et al. 2015",
     [](const Scope&, const AttentionOptions& options) { return std::make_unique<Median>(options.half_width); }}};

}  // namespace
}  // namespace heed
