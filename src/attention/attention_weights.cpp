#include "heed/attention/attention_weights.h"

#include <algorithm>
#include <cmath>

#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

// Positions `list` of one axis; an empty list means all.
Tensor picked(const Tensor& x, int axis, const std::vector<Index>& list, const char* what) {
  if (list.empty()) return x;
  Ids ids(Shape{static_cast<Index>(list.size())});
  for (std::size_t i = 0; i < list.size(); ++i) {
    require(list[i] >= 0 && list[i] < x.size(axis), "[attention] {} {} is outside 0..{}", what, list[i],
            x.size(axis) - 1);
    ids.data()[i] = static_cast<std::int32_t>(list[i]);
  }
  return gather(Var(x), axis, ids).value();
}

// weights [batch, heads, n, m]
AttentionWeights::Summaries summarised(const Tensor& weights, Index top_count) {
  const Shape rows = weights.shape().without(-1);
  const Index m = weights.size(-1), n = weights.size(-2);
  AttentionWeights::Summaries result{Tensor(rows, Real{0}), Tensor(rows.append(top_count), Real{0}),
                                     TensorOf<Index>(rows.append(top_count), Index{-1}),
                                     Tensor(rows.with(-1, m), Real{0})};
  std::vector<Index> order(static_cast<std::size_t>(m));
  for (Index row = 0; row < rows.size(); ++row) {
    const Real* p = weights.data() + row * m;
    Real* sums = result.column_sums.data() + row / n * m;
    order.clear();
    for (Index j = 0; j < m; ++j) {
      sums[j] += p[j];
      if (!(p[j] > 0)) continue;
      result.entropy.data()[row] -= p[j] * std::log(p[j]);
      order.push_back(j);
    }
    const Index count = std::min(top_count, static_cast<Index>(order.size()));
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](Index a, Index b) { return p[a] != p[b] ? p[a] > p[b] : a < b; });
    for (Index i = 0; i < count; ++i) {
      const Index j = order[static_cast<std::size_t>(i)];
      result.top.data()[row * top_count + i] = p[j];
      result.top_keys.data()[row * top_count + i] = j;
    }
  }
  return result;
}

}  // namespace

Var AttentionWeights::var() const { return computed_ || !composed_ ? computed_ : composed_(); }

Tensor AttentionWeights::rows(const std::vector<Index>& rows, const std::vector<Index>& heads) const {
  if (fused_) return fused_->weights(rows, heads);
  return picked(picked(computed_.value(), 2, rows, "row"), 1, heads, "head");
}

AttentionWeights::Summaries AttentionWeights::summaries(Index top_count) const {
  if (fused_) return fused_->summaries(top_count);
  const Index m = computed_.size(-1);
  require(top_count >= 1 && top_count <= m, "[attention] the top {} of {} keys does not exist", top_count, m);
  return summarised(computed_.value().contiguous(), top_count);
}

Shape AttentionWeights::shape() const { return fused_ ? fused_->weights_shape() : computed_.shape(); }

}  // namespace heed
