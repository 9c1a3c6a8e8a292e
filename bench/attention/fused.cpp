// The fused kernels through their public calls: dot-product attention, additive attention, a decoding step.
#include <memory>

#include "attention/settings.h"
#include "engine/differentiated.h"
#include "heed/attention/additive.h"
#include "heed/attention/fused.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/softmax.h"

namespace heed::bench {
namespace {

// `count` rows spread evenly over n.
std::vector<Index> spread_rows(Index count, Index n) {
  std::vector<Index> rows;
  for (Index i = 0; i < count; ++i) rows.push_back(i * n / count);
  return rows;
}

// Scaled dot products of [batch, heads, n, width]; scores have about unit variance. `neighbours`: restricted to so
// many; `rows`: the weights of so many rows are wanted too.
const Family dot("dot", [](Settings& settings) -> Step {
  const Index batch = settings.number("batch", 1), heads = settings.number("heads", 8), n = settings.number("n", 512);
  const Shape shape{batch, heads, n, settings.number("width", 64)};
  FusedOptions options;
  if (settings.number("causal", 0)) options.band = causal();
  if (const Index r = settings.number("neighbours", 0)) options.band = restricted(r);
  const std::vector<Index> rows = spread_rows(settings.number("rows", 0), n);
  const Tensor q = filled(shape, 1, 3), k = filled(shape, 2), v = filled(shape, 3);
  if (settings.number("training", 0))
    return differentiated(
        {{"dq", Var::leaf(q)}, {"dk", Var::leaf(k)}, {"dv", Var::leaf(v)}}, filled(shape, 4),
        [options](const auto& in) { return attend_fused(in[0].var, in[1].var, in[2].var, options).read; });
  return [=](Results* results) {
    const NoGradient no_gradient;
    const FusedAttention attended = attend_fused(q, k, v, options);
    const Tensor weights = rows.empty() ? Tensor() : attended.weights(rows);
    if (!results) return;
    *results = {{"y", attended.read.value()}};
    if (weights) results->emplace_back("weights", weights);
  };
});

// softmax(vᵀ tanh(q + k)) · values with queries and keys already mapped, forward and backward.
const Family additive("additive", [](Settings& settings) {
  const Index batch = settings.number("batch", 64), n = settings.number("n", 1), m = settings.number("m", 30);
  const Index width = settings.number("width", 256);
  return differentiated({{"dq", Var::leaf(filled({batch, 1, n, width}, 1))},
                         {"dk", Var::leaf(filled({batch, 1, m, width}, 2))},
                         {"dv", Var::leaf(filled({width}, 3, 0.3f))},
                         {"dvalues", Var::leaf(filled({batch, 1, m, width}, 4))}},
                        filled({batch, 1, n, width}, 5), [](const auto& in) {
                          return matmul(softmax(additive_scores(in[0].var, in[1].var, in[2].var)), in[3].var);
                        });
});

// One query over a cache of `keys`, batch 32, 8 heads of 64. A model has a cache in every layer, and no processor keeps
// them all: so many caches that they take half a gigabyte take turns, and every step reads from memory.
const Family decoding("decoding", [](Settings& settings) {
  const Index batch = 32, heads = 8, width = 64, keys = settings.number("keys", 64);
  const Shape cache{batch, heads, keys, width};
  const Index layers = std::max<Index>(1, (Index{1} << 27) / (2 * cache.size()));
  std::vector<std::pair<Tensor, Tensor>> caches{{filled(cache, 2), filled(cache, 3)}};
  while (static_cast<Index>(caches.size()) < layers)
    caches.emplace_back(caches.front().first.copy(), caches.front().second.copy());
  const Tensor q = filled({batch, heads, 1, width}, 1, 3);
  const auto next = std::make_shared<std::size_t>(0);
  return [=](Results* results) {
    const auto& [k, v] = caches[(*next)++ % caches.size()];
    const Tensor y = attend_step(q, k, v);
    if (results) *results = {{"y", y}};
  };
});

}  // namespace
}  // namespace heed::bench
