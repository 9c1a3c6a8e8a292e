#pragma once

#include "heed/autograd/var.h"

namespace heed {

// y[..., i, j] = x[..., i, ids[i, j]]: x [..., n, c], ids [n, m] → [..., n, m].
Var take_along(const Var& x, const Ids& ids);
// Its adjoint: y[..., i, c] = Σ x[..., i, j] over the j with ids[i, j] = c: x [..., n, m] → [..., n, classes].
Var sum_along(const Var& x, const Ids& ids, Index classes);

}  // namespace heed
