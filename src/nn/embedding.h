#pragma once

#include "heed/autograd/ops/embedding.h"
#include "heed/nn/parameters.h"

namespace heed {

// A learned vector per id: table [vocabulary, width]. Rows may be frozen: a second table [vocabulary], which is kept
// with the model and never trained, marks with 1 those that keep their first values.
class Embedding {
 public:
  enum class Rows { learned, may_be_frozen };

  Embedding() = default;
  Embedding(const Scope& scope, Index vocabulary, Index width, const Initialiser& initialise = init::normal(0.1),
            Rows rows = Rows::learned)
      : table_(scope.parameter("table", Shape{vocabulary, width}, initialise, Use::table)) {
    if (rows == Rows::may_be_frozen) frozen_ = scope.parameter("frozen", Shape{vocabulary}, init::zeros());
  }
  Var operator()(const Ids& ids) const { return embedding(table_, ids, frozen_ ? frozen_.value() : Tensor()); }
  const Var& table() const { return table_; }
  const Var& frozen() const { return frozen_; }  // empty where no row may be

 private:
  Var table_, frozen_;
};

}  // namespace heed
