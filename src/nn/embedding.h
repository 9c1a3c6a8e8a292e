#pragma once

#include "heed/autograd/ops/embedding.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/nn/parameters.h"

namespace heed {

// A learned vector per id: table [vocabulary, width].
class Embedding {
 public:
  Embedding() = default;
  Embedding(const Scope& scope, Index vocabulary, Index width, const Initialiser& initialise = init::normal(0.1))
      : table_(scope.parameter("table", Shape{vocabulary, width}, initialise)) {}
  Var operator()(const Ids& ids) const { return embedding(table_, ids); }
  // x · tableᵀ: an output layer that shares its weights with the embedding (Press & Wolf 2017).
  Var logits(const Var& x) const { return matmul(x, table_, {.b = true}); }
  const Var& table() const { return table_; }

 private:
  Var table_;
};

}  // namespace heed
