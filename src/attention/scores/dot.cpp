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
// The wider of the two is mapped, so that the products are as narrow as they can be: keys once, or the queries of each
// call where these are wider (Rush et al. 2015: the last words, joined).
class General final : public Score {
 public:
  General(const Scope& scope, const AttentionOptions& options)
      : map_(scope, options.key_width, options.query_width, {.bias = false}),
        maps_queries_(options.query_width > options.key_width) {}
  Var prepare(const Var& keys, Index) const override { return maps_queries_ ? keys : map_(keys); }
  Var operator()(const Query& query, const Memory& memory) const override {
    return matmul(asked(query), memory.prepared, {.b = true});
  }
  std::optional<FusedScore> fused(const Query& query, const Memory& memory) const override {
    return FusedScore{asked(query), memory.prepared, 1};
  }
  bool plain_products() const override { return true; }

 private:
  // qᵀ W, or q where keys were mapped.
  Var asked(const Query& query) const {
    const Index width = map_.weight().size(1);
    require(query.vectors.size(-1) == width, "[general] queries of width {} do not fit keys of width {}",
            query.vectors.size(-1), width);
    return maps_queries_ ? linear(query.vectors, map_.weight(), {}, Activation::identity, {.b = true}) : query.vectors;
  }

  Linear map_;
  bool maps_queries_;
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
