#include "heed/attention/additive.h"
#include "heed/attention/parts.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/nn/linear.h"

namespace heed {
namespace {

// Additive attention that knows how much of each position was already attended to.
//   e_j = vᵀ tanh(W q + U k_j + w_c C_j + b)
// See, Liu, Manning 2017: C_j is the sum of the past weights. Tu et al. 2016: C_j is that sum over the fertility
// Φ_j = N σ(u·k_j), how many output words position j is expected to make (fertility N > 0).
class Coverage final : public Score {
 public:
  Coverage(const Scope& scope, const AttentionOptions& options)
      : fertility_(options.fertility),
        query_map_(scope / "query", options.query_width, width(options), {.bias = false}),
        key_map_(scope / "key", options.key_width, width(options)),
        coverage_map_(scope / "coverage", 1, width(options), {.bias = false}),
        v_(scope.parameter("v", Shape{width(options)}, init::uniform(-0.1, 0.1))) {
    require(fertility_ >= 0, "[coverage] the fertility must not be negative: {}", fertility_);
    if (fertility_ > 0)
      fertility_map_ =
          Linear(scope / "fertility", options.key_width, 1, {.bias = false, .activation = Activation::sigmoid});
  }
  Carries carries() const override { return {.coverage = true}; }
  Var prepare(const Var& keys, Index) const override { return key_map_(keys); }
  Var operator()(const Query& query, const Memory& memory) const override {
    Var keys = memory.prepared;
    if (query.past && query.past->coverage) {
      Var covered = transpose(query.past->coverage, -2, -1);  // [batch, heads, m, 1]
      if (fertility_ > 0) covered = covered / scale(fertility_map_(memory.keys), static_cast<Real>(fertility_));
      keys = keys + coverage_map_(covered);
    }
    return additive_scores(query_map_(query.vectors), keys, v_, memory.lengths);
  }

 private:
  static Index width(const AttentionOptions& o) { return o.score_width > 0 ? o.score_width : o.query_width; }
  double fertility_;
  Linear query_map_, key_map_, coverage_map_, fertility_map_;
  Var v_;
};

const RegisterScore coverage{
    {"coverage", "additive, with the sum of the past weights among the inputs",
     "e = v.tanh(W q + U k + w C + b), C = sum a' (over the fertility N sigmoid(u.k))",
     "Tu et al. 2016; See, Liu, Manning 2017",
     [](const Scope& scope, const AttentionOptions& options) { return std::make_unique<Coverage>(scope, options); }}};

}  // namespace
}  // namespace heed
