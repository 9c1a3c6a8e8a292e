#pragma once

#include "heed/autograd/var.h"
#include "heed/base/random.h"

namespace heed {

// Rows of a table [vocabulary, width] for ids [...]: [..., width]. The gradient is the touched rows, never the table;
// rows that `frozen` [vocabulary] marks with 1 get none.
Var embedding(const Var& table, const Ids& ids, const Tensor& frozen = {});

// Inverted dropout (Srivastava et al. 2014). The mask is a function of the key: backward computes it again instead of
// storing it. A rate of 0 is the identity.
Var dropout(const Var& x, double rate, RandomKey key);

}  // namespace heed
