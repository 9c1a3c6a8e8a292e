#include "heed/attention/parts.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/nn/linear.h"

namespace heed {
namespace {

// Scores of the keys by themselves, against learned vectors instead of a query; the query's numbers are not read.
//   Yang et al. 2016 (HAN):  u_j = tanh(W k_j + b),  e_j = u_jᵀ u_w                    one row, with bias
//   Lin et al. 2017:         E = W₂ tanh(W₁ Hᵀ)                                        r rows, no bias
class SelfScore final : public Score {
 public:
  SelfScore(const Scope& scope, const AttentionOptions& options, Index rows, bool bias)
      : map_(scope / "key", options.key_width, width(options), {.bias = bias, .activation = Activation::tanh}),
        rows_(scope.parameter("rows", Shape{width(options), checked(rows)}, init::normal(0.1))) {}
  Var prepare(const Var& keys, Index) const override { return map_(keys); }
  Var operator()(const Query&, const Memory& memory) const override {
    return transpose(matmul(memory.prepared, rows_), -2, -1);  // [batch, heads, rows, m]
  }
  bool asks() const override { return false; }
  Index rows(Index) const override { return rows_.size(1); }

 private:
  static Index checked(Index rows) {
    require(rows > 0, "[rows] needs at least one row of weights, not {}", rows);
    return rows;
  }
  static Index width(const AttentionOptions& o) { return o.score_width > 0 ? o.score_width : o.key_width; }
  Linear map_;
  Var rows_;
};

// Every place alike: with softmax the mean, the baseline that attention has to beat.   e = 0
class Uniform final : public Score {
 public:
  Var operator()(const Query& query, const Memory& memory) const override {
    return Var(Tensor(Shape{memory.batch(), memory.heads(), query.count(), memory.size()}, Real{0}));
  }
  bool asks() const override { return false; }
};

const RegisterScore uniform{{"uniform", "the same for every key: softmax makes it the mean", "e = 0",
                             "the baseline of Yang et al. 2016",
                             [](const Scope&, const AttentionOptions&) { return std::make_unique<Uniform>(); }}};
const RegisterScore context{{"context", "of each key with a learned context vector", "e = u.tanh(W k + b)",
                             "Yang et al. 2016", [](const Scope& scope, const AttentionOptions& options) {
                               return std::make_unique<SelfScore>(scope, options, 1, true);
                             }}};
const RegisterScore rows{{"rows", "of each key with a matrix of learned vectors", "E = W2 tanh(W1 H')",
                          "Lin et al. 2017", [](const Scope& scope, const AttentionOptions& options) {
                            return std::make_unique<SelfScore>(scope, options, options.rows, false);
                          }}};

}  // namespace
}  // namespace heed
