#pragma once

#include "heed/autograd/ops/embedding.h"
#include "heed/nn/parameters.h"

namespace heed {

// A learned vector per id: table [vocabulary, width].
class Embedding {
 public:
  Embedding() = default;
  Embedding(const Scope& scope, Index vocabulary, Index width, const Initialiser& initialise = init::normal(0.1))
      : table_(scope.parameter("table", Shape{vocabulary, width}, initialise)) {}
  Var operator()(const Ids& ids) const { return embedding(table_, ids); }
  const Var& table() const { return table_; }

 private:
  Var table_;
};

}  // namespace heed
