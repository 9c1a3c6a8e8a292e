#include "heed/models/pooling.h"

#include "heed/autograd/ops/shape.h"

namespace heed {

Pooling::Pooling(const char* model, const Scope& scope, AttentionOptions options, Index width, Index rows) {
  require(rows > 0, "[{}] needs at least one row of weights, not {}", model, rows);
  require(options.normaliser != "hard",
          "[{}] normaliser hard: a sampled place gets no gradient where a label is chosen", model);
  options.query_width = options.key_width = options.value_width = width;
  options.heads = 1;
  options.rows = rows;
  attention_ = std::make_shared<const Attention>(scope, options);
  require(!attention_->carries().any(),
          "[{}] score {}, window {}, normaliser {}: one of them remembers its last step, "
          "and here is only one",
          model, options.score, options.window, options.normaliser);
  require(attention_->rows(rows) == rows, "[{}] score {} gives {} row of weights, not {}", model, options.score,
          attention_->rows(rows), rows);
  const Shape shape{1, 1, rows, width};
  queries_ = attention_->asks() ? scope.parameter("queries", shape, init::normal(0.1)) : Var(Tensor(shape, Real{0}));
}

Pooling::Result Pooling::operator()(const Var& annotations, const Ids& lengths, const Var& gates) const {
  const Index batch = annotations.size(0), m = annotations.size(1), width = annotations.size(2);
  const Index rows = queries_.size(2);
  Memory memory = attention_->memory(annotations, annotations, lengths);
  memory.gates = gates;
  Query query;
  query.vectors = expand(queries_, Shape{batch, 1, rows, width});
  query.weights = true;
  const Attended attended = (*attention_)(query, memory);
  return {reshape(attended.read, Shape{batch, rows, width}), reshape(attended.weights, Shape{batch, rows, m})};
}

}  // namespace heed
