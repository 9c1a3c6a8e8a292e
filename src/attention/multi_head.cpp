#include "heed/attention/multi_head.h"

#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

AttentionOptions per_head(const MultiHeadOptions& options) {
  AttentionOptions inner = options.attention;
  require(inner.heads > 0 && options.width % inner.heads == 0,
          "[multi-head] a width of {} does not split into {} heads", options.width, inner.heads);
  inner.query_width = inner.key_width = inner.value_width = options.width / inner.heads;
  return inner;
}

}  // namespace

MultiHead::MultiHead(const Scope& scope, const MultiHeadOptions& options)
    : heads_(options.attention.heads),
      query_(scope / "query", options.width, options.width),
      key_(scope / "key", options.width, options.width),
      value_(scope / "value", options.width, options.width),
      attention_(scope / "attention", per_head(options)) {
  if (options.output) output_ = Linear(scope / "output", options.width, options.width);
}

// [batch, n, width] → [batch, heads, n, width / heads], a view.
Var MultiHead::split_heads(const Var& x) const {
  return transpose(reshape(x, Shape{x.size(0), x.size(1), heads_, x.size(2) / heads_}), 1, 2);
}

Memory MultiHead::memory(const Var& y, const Ids& lengths) const {
  return attention_.memory(split_heads(key_(y)), split_heads(value_(y)), lengths);
}

Memory MultiHead::extended(const Memory& memory, const Var& y) const {
  return attention_.extended(memory, split_heads(key_(y)), split_heads(value_(y)));
}

MultiHead::Result MultiHead::operator()(const Query& asked, const Memory& memory) const {
  Query query = asked;
  query.vectors = split_heads(query_(asked.vectors));
  Attended attended = attention_(query, memory);
  const Var joined = reshape(transpose(attended.read, 1, 2), asked.vectors.shape());
  return {output_.weight() ? output_(joined) : joined, std::move(attended.weights), std::move(attended.past),
          std::move(attended.sampled)};
}

MultiHead::Result MultiHead::operator()(const Var& x, const Memory& memory, Index position) const {
  Query query;
  query.vectors = x;
  query.position = position;
  return (*this)(query, memory);
}

}  // namespace heed
