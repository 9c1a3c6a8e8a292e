#include <cmath>

#include "heed/attention/parts.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/nn/linear.h"

namespace heed {
namespace {

void check_widths(const char* score, const Query& query, const Memory& memory) {
  require(query.vectors.size(-1) == memory.prepared.size(-1), "[{}] queries of width {} do not fit keys of width {}",
          score, query.vectors.size(-1), memory.prepared.size(-1));
}

FusedScore products(const char* score, const Query& query, const Memory& memory, Real factor) {
  check_widths(score, query, memory);
  return {query.vectors, memory.prepared, factor};
}

// Luong, Pham, Manning 2015.   e = qᵀ k
class Dot final : public Score {
 public:
  Var operator()(const Query& query, const Memory& memory) const override {
    check_widths("dot", query, memory);
    return matmul(query.vectors, memory.prepared, {.b = true});
  }
  std::optional<FusedScore> fused(const Query& query, const Memory& memory) const override {
    return products("dot", query, memory, 1);
  }
  bool plain_products() const override { return true; }
};

// Vaswani et al. 2017.   e = qᵀ k / √d
class ScaledDot final : public Score {
 public:
  Var operator()(const Query& query, const Memory& memory) const override {
    check_widths("scaled-dot", query, memory);
    return scale(matmul(query.vectors, memory.prepared, {.b = true}), factor(query));
  }
  std::optional<FusedScore> fused(const Query& query, const Memory& memory) const override {
    return products("scaled-dot", query, memory, factor(query));
  }
  bool plain_products() const override { return true; }

 private:
  static Real factor(const Query& query) {
    return static_cast<Real>(1 / std::sqrt(static_cast<double>(query.vectors.size(-1))));
  }
};

// Luong, Pham, Manning 2015.   e = qᵀ W k
class General final : public Score {
 public:
  General(const Scope& scope, const AttentionOptions& options)
      : map_(scope, options.key_width, options.query_width, {.bias = false}) {}
  Var prepare(const Var& keys, Index) const override { return map_(keys); }  // W k, once
  Var operator()(const Query& query, const Memory& memory) const override {
    check_widths("general", query, memory);
    return matmul(query.vectors, memory.prepared, {.b = true});
  }
  std::optional<FusedScore> fused(const Query& query, const Memory& memory) const override {
    return products("general", query, memory, 1);
  }
  bool plain_products() const override { return true; }

 private:
  Linear map_;
};

const RegisterScore dot{{"dot", "inner product of query and key", "e = q.k", "Luong, Pham, Manning 2015",
                         [](const Scope&, const AttentionOptions&) { return std::make_unique<Dot>(); }, Widths::equal}};
const RegisterScore scaled_dot{
    {"scaled-dot", "inner product over the root of the width", "e = q.k / sqrt(d)", "Vaswani et al. 2017",
     [](const Scope&, const AttentionOptions&) { return std::make_unique<ScaledDot>(); }, Widths::equal}};
const RegisterScore general{
    {"general", "inner product through a learned matrix", "e = q.(W k)", "Luong, Pham, Manning 2015",
     [](const Scope& scope, const AttentionOptions& options) { return std::make_unique<General>(scope, options); }}};

}  // namespace
}  // namespace heed
